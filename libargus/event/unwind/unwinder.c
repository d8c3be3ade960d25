/* Each frame's image gives its ELF file, whose call frame information leads to the caller.
 *
 * The end of a stack tells whether it is complete. If the outermost function is reached (its return
 * address is "undefined", as in _start and clone), nothing is appended. If the copy of the stack
 * ends before, or code has no call frame information (made at run time, or its file was deleted or
 * replaced), frame pointers are followed as long as the steps are sure (unwind_frame.h). Otherwise
 * the last frame is one of ARGUS_FRAME_…, the reason for the end. Stack words that merely look like
 * addresses are never used.
 */
#include "event/unwind/unwinder.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_private.h"
#include "event/names/interpreted.h"
#include "event/unwind/unwind_frame.h"
#include "event/unwind/unwind_processor.h"
#include "event/unwind/unwind_signal.h"

void unwinder_init(struct unwinder *unwinder, const struct argus_trace *trace,
                   const struct images *images)
{
    *unwinder = (struct unwinder){
        .images = images,
        .arm = argus_trace_header(trace)->arch == ARGUS_ARCH_AARCH64,
    };
    elf_files_init(&unwinder->files, trace);
}

void unwinder_deinit(struct unwinder *unwinder)
{
    for (size_t i = 0; i < unwinder->cfis.length; i++) {
        cfi_deinit(unwinder->cfis.data[i]);
        free(unwinder->cfis.data[i]);
    }
    vec_deinit(&unwinder->cfis);
    idmap_deinit(&unwinder->cfi_by_image);
    elf_files_deinit(&unwinder->files);
}

static struct cfi *add_cfi(struct unwinder *unwinder, struct elf_file *elf)
{
    for (size_t i = 0; i < unwinder->cfis.length; i++)
        if (unwinder->cfis.data[i]->elf == elf)
            return unwinder->cfis.data[i];
    struct cfi *cfi = malloc(sizeof(*cfi));
    if (!cfi || !vec_push(&unwinder->cfis, cfi)) {
        free(cfi);
        unwinder->no_memory = true;
        return NULL;
    }
    cfi_init(cfi, elf, unwind_processor_of(elf_file_machine(elf))->registers);
    return cfi;
}

/* NULL: the file is gone, or for another processor. */
static struct cfi *cfi_of(struct unwinder *unwinder, uint32_t image, unsigned machine)
{
    bool stale;
    struct elf_file *elf = elf_files_get(&unwinder->files, image, &stale);
    if (!elf || elf_file_machine(elf) != machine)
        return NULL;
    return add_cfi(unwinder, elf);
}

/* Size of what the vdso's system call function keeps on the stack. */
#define VDSO_MOST_BYTES 32

/* A caller was found. */
#define WALKED ((uint64_t)ARGUS_FRAME_ENDS)

/* The state of unwinding one stack. */
struct walk {
    struct unwinder *unwinder;
    const struct argus_snapshot *snapshot;
    const struct unwind_processor *processor;
    struct cfi_machine machine;
    uint64_t bottom; /* start of the copy: the snapshot's stack pointer */
    uint64_t time_ns;
    uint32_t process;
    uint32_t pc, sp;    /* numbers of these registers */
    bool sure;          /* the step to this frame was sure */
    bool is_trampoline; /* a signal handler returns here: the address is not behind a call */
};

static bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
    const struct walk *walk = context;
    uint64_t at = address - walk->bottom, gap;
    uint32_t bytes = walk->processor->word_bytes;
    if (walk->snapshot->stack_bytes < sizeof(gap) || at > walk->snapshot->stack_bytes - bytes)
        return false;
    /* missing memory is marked in 8-byte words */
    uint64_t whole = bytes == sizeof(gap) ? at : at & ~7ull;
    memcpy(&gap, walk->snapshot->stack + whole, sizeof(gap));
    *ret = 0;
    memcpy(ret, walk->snapshot->stack + at, bytes);
    return gap != ARGUS_SNAPSHOT_GAP;
}

/* The length of the system call instruction just before the code at `offset` of the file; 0: there
 * is none. */
static uint64_t syscall_bytes_before(const struct walk *walk, const struct elf_file *elf,
                                     uint64_t offset)
{
    const struct unwind_processor *processor = walk->processor;
    uint8_t found[sizeof(processor->syscall)];
    size_t bytes = processor->syscall_bytes;
    if (offset < bytes || !elf_file_read(elf, offset - bytes, bytes, found))
        return 0;
    return memcmp(found, processor->syscall, bytes) == 0 ? bytes : 0;
}

/* glibc's clone() and clone3() have no call frame information after the system call, because the
 * child also continues there. A system call does not move the stack, so for the parent the row just
 * before it still holds. */
static const struct cfi_row *row_before_syscall(const struct walk *walk, struct cfi *cfi,
                                                uint64_t offset)
{
    uint64_t bytes = syscall_bytes_before(walk, cfi->elf, offset), in_file;
    if (!bytes || !elf_file_address(cfi->elf, offset - bytes - 1, &in_file))
        return NULL;
    return cfi_find(cfi, in_file);
}

/* The row for the code at `address`; NULL: unknown. */
static const struct cfi_row *find_row(struct walk *walk, uint64_t address, struct cfi **ret)
{
    const struct images *images = walk->unwinder->images;
    uint32_t image = images_find(images, walk->process, walk->time_ns, address);
    *ret = image == UINT32_MAX ? NULL : cfi_of(walk->unwinder, image, walk->processor->machine);
    uint64_t in_file;
    if (!*ret)
        return NULL;
    uint64_t offset = address - images->entries[image].start + images->entries[image].file_offset;
    if (!elf_file_address((*ret)->elf, offset, &in_file))
        return NULL;
    const struct cfi_row *row = cfi_find(*ret, in_file);
    bool innermost = walk->machine.cfa == 0;
    return row || !innermost ? row : row_before_syscall(walk, *ret, offset);
}

/* Whether a signal handler returns to `address`. The vdso has no other code that calls
 * functions. */
static bool is_signal_return(const struct walk *walk, uint64_t address)
{
    const struct images *images = walk->unwinder->images;
    uint8_t code[UNWIND_SIGNAL_CODE_BYTES];
    if (!walk->unwinder->arm)
        return false;
    uint32_t image = images_find(images, walk->process, walk->time_ns, address);
    if (image == UINT32_MAX)
        return false;
    const struct argus_image_entry *entry = &images->entries[image];
    if (strcmp(entry->path, "[vdso]") == 0)
        return true;
    struct cfi *cfi = cfi_of(walk->unwinder, image, walk->processor->machine);
    return cfi &&
           elf_file_read(cfi->elf, address - entry->start + entry->file_offset, sizeof(code),
                         code) &&
           unwind_signal_is_return(code);
}

/* At the stack pointer that exec() set, there is no caller, as in ld.so's first instructions, which
 * have no call frame information. */
static bool is_at_the_end(const struct walk *walk)
{
    uint64_t sp = walk->machine.registers[walk->sp];
    return walk->snapshot->end == ARGUS_SNAPSHOT_WHOLE && walk->machine.known >> walk->sp & 1 &&
           walk->machine.cfa != 0 &&
           sp - walk->bottom + walk->processor->entry_bytes >= walk->snapshot->stack_bytes;
}

static uint64_t end_of_copy(const struct argus_snapshot *snapshot)
{
    switch (snapshot->end) {
    case ARGUS_SNAPSHOT_CUT:
        return ARGUS_FRAME_CUT;
    case ARGUS_SNAPSHOT_MISSING:
        return ARGUS_FRAME_MISSING;
    case ARGUS_SNAPSHOT_WHOLE:
        break;
    }
    return ARGUS_FRAME_UNKNOWN;
}

/* Go's goroutines look as if the second instruction of goexit() had called them (runtime/proc.go,
 * newproc1()). The file tells that only by Go's own table: a stripped program has nothing else. */
static bool is_goroutines_end(struct elf_file *elf, uint64_t offset)
{
    enum { INSTRUCTION = 4 };
    struct elf_go *go = elf_file_go(elf);
    uint64_t address, start;
    const char *name = go && elf_file_address(elf, offset - 1, &address)
                           ? elf_go_function(go, address, &start)
                           : NULL;
    return name && address - start < INSTRUCTION && strcmp(name, "runtime.goexit") == 0;
}

/* Whether the code before the return address `address` is a call, or there was none because a
 * goroutine begins there. */
static bool is_behind_call(const struct walk *walk, uint64_t address)
{
    const struct images *images = walk->unwinder->images;
    uint32_t image = images_find(images, walk->process, walk->time_ns, address - 1);
    struct cfi *cfi =
        image == UINT32_MAX ? NULL : cfi_of(walk->unwinder, image, walk->processor->machine);
    uint8_t code[FRAME_CALL_BYTES];
    if (!cfi)
        return false;
    uint64_t offset = address - images->entries[image].start + images->entries[image].file_offset;
    return offset >= sizeof(code) &&
           elf_file_read(cfi->elf, offset - sizeof(code), sizeof(code), code) &&
           (frame_is_call(code, sizeof(code), walk->processor->machine) ||
            is_goroutines_end(cfi->elf, offset));
}

static uint64_t walk_by_frame_pointer(struct walk *walk, bool *is_return)
{
    switch (frame_step(&walk->machine, walk->processor)) {
    case FRAME_NONE:
        return ARGUS_FRAME_UNKNOWN;
    case FRAME_NO_MEMORY:
        return end_of_copy(walk->snapshot);
    case FRAME_STEPPED:
        break;
    }
    *is_return = true;
    walk->sure = is_behind_call(walk, walk->machine.registers[walk->pc]);
    return WALKED;
}

/* 32-bit programs enter the kernel through a function of their vdso, which is not in any file. It
 * saves three registers on the stack (arch/x86/entry/vdso/vdso32/system_call.S), with its return
 * address above them. */
static bool walk_out_of_vdso(struct walk *walk)
{
    const struct images *images = walk->unwinder->images;
    uint64_t sp = walk->machine.registers[walk->sp], address;
    uint32_t image =
        images_find(images, walk->process, walk->time_ns, walk->machine.registers[walk->pc]);
    bool innermost = walk->machine.cfa == 0;
    if (walk->processor->machine != EM_386 || !innermost || image == UINT32_MAX ||
        strcmp(images->entries[image].path, "[vdso]") != 0)
        return false;
    for (uint64_t at = sp; at < sp + VDSO_MOST_BYTES; at += walk->processor->word_bytes) {
        if (!read_stack(walk, at, &address) || !is_behind_call(walk, address))
            continue;
        walk->machine.return_slot = at;
        walk->machine.cfa = at + walk->processor->word_bytes;
        walk->machine.registers[walk->sp] = walk->machine.cfa;
        walk->machine.registers[walk->pc] = address;
        return true;
    }
    return false;
}

/* The step for code without call frame information. */
static uint64_t walk_without_row(struct walk *walk, bool *is_return)
{
    if (walk_out_of_vdso(walk)) {
        *is_return = true;
        return WALKED;
    }
    if (*is_return && is_signal_return(walk, walk->machine.registers[walk->pc])) {
        *is_return = false;
        walk->is_trampoline = true;
        return unwind_signal_step(&walk->machine) ? WALKED : end_of_copy(walk->snapshot);
    }
    return is_at_the_end(walk) ? ARGUS_FRAME_OUTERMOST : walk_by_frame_pointer(walk, is_return);
}

/* Whether the innermost instruction is x86's return. */
static bool is_at_return(const struct walk *walk, const struct cfi *cfi)
{
    const struct images *images = walk->unwinder->images;
    uint64_t address = walk->machine.registers[walk->pc];
    uint32_t image = images_find(images, walk->process, walk->time_ns, address);
    uint8_t code = 0;
    if (walk->machine.cfa != 0 || walk->processor->machine == EM_AARCH64 || image == UINT32_MAX)
        return false;
    uint64_t offset = address - images->entries[image].start + images->entries[image].file_offset;
    return elf_file_read(cfi->elf, offset, sizeof(code), &code) && (code == 0xc3 || code == 0xc2);
}

/* At a return instruction, the registers that a function keeps have their callers' values again,
 * but GCC's rows still say that they are on the stack. That part of the stack has been popped and
 * is in no copy. */
static void keep_popped(const struct cfi_machine *before, const struct cfi_row *row,
                        struct cfi_machine *machine)
{
    for (uint32_t i = 0; i < CFI_REGISTERS; i++) {
        uint64_t bit = 1ull << i;
        if (row->registers[i].kind != CFI_AT_CFA || machine->known & bit || !(before->known & bit))
            continue;
        machine->registers[i] = before->registers[i];
        machine->known |= bit;
    }
}

/* Steps to the caller. Returns WALKED, or the mark for the end of the stack. `is_return`: whether
 * the pc is a return address; afterwards, whether the caller's is. */
static uint64_t walk_up(struct walk *walk, bool *is_return)
{
    struct cfi *cfi;
    uint64_t cfa_before = walk->machine.cfa;
    const struct cfi_row *row =
        find_row(walk, walk->machine.registers[walk->pc] - *is_return, &cfi);
    if (!row)
        return walk_without_row(walk, is_return);
    struct cfi_machine before = walk->machine;
    bool returns = !*is_return && is_at_return(walk, cfi);
    switch (cfi_step(cfi, row, &walk->machine)) {
    case CFI_OUTERMOST:
        return ARGUS_FRAME_OUTERMOST;
    case CFI_NO_MEMORY:
        return end_of_copy(walk->snapshot);
    case CFI_BROKEN:
        return ARGUS_FRAME_UNKNOWN;
    case CFI_STEPPED:
        break;
    }
    if (returns)
        keep_popped(&before, row, &walk->machine);
    /* a caller's frame is further up, except that a signal handler may have its own stack */
    if (!row->is_signal && cfa_before && walk->machine.cfa <= cfa_before)
        return ARGUS_FRAME_UNKNOWN;
    if (row->is_signal)
        walk->machine.cfa = 0;
    walk->is_trampoline = row->is_signal;
    *is_return = !row->is_signal;
    return WALKED;
}

static struct walk walk_begin(struct unwinder *unwinder, const struct argus_snapshot *snapshot,
                              uint32_t process)
{
    const struct unwind_processor *processor =
        unwind_processor_with(snapshot->register_count, unwinder->arm);
    struct walk walk = {
        .unwinder = unwinder,
        .snapshot = snapshot,
        .processor = processor,
        .time_ns = argus_trace_ticks_to_ns(unwinder->images->trace, snapshot->ticks),
        .process = process,
        .pc = processor->registers - 1,
        .sp = processor->stack,
    };
    memcpy(walk.machine.registers, snapshot->registers, sizeof(walk.machine.registers));
    walk.machine.known = (1ull << processor->registers) - 1;
    walk.machine.read = read_stack;
    walk.bottom = snapshot->registers[walk.sp] & ~(uint64_t)(8 - processor->word_bytes);
    return walk;
}

/* The end mark of a stack with `count` frames whose last step returned `end`. */
static uint64_t end_at(size_t count, uint64_t end)
{
    return end == WALKED && count >= ARGUS_STACK_MAX_FRAMES - 1 ? ARGUS_FRAME_DEEP : end;
}

/* The start of the function with the code at `address`, as far as that matters: 0 if the next
 * interpreted frames do not ask for it, or if the file does not tell. */
static uint64_t function_at(const struct walk *walk, const struct interpreted *interpreted,
                            uint64_t address)
{
    const struct images *images = walk->unwinder->images;
    uint64_t wanted = interpreted_function(interpreted), in_file, start;
    uint32_t image =
        wanted ? images_find(images, walk->process, walk->time_ns, address) : UINT32_MAX;
    struct cfi *cfi =
        image == UINT32_MAX ? NULL : cfi_of(walk->unwinder, image, walk->processor->machine);
    if (!cfi)
        return 0;
    uint64_t offset = address - images->entries[image].start + images->entries[image].file_offset;
    if (!elf_file_address(cfi->elf, offset, &in_file) ||
        !elf_file_function_start(cfi->elf, in_file, &start))
        return 0;
    return address - (in_file - start);
}

/* Replaces the last frame of `ret`, an interpreting C function at `place`, by the frames that it
 * interprets. The end of its part of the stack is added here. Returns `end`, or the mark for too
 * many frames. */
static uint64_t put_interpreted(const struct walk *walk, struct interpreted *interpreted,
                                struct interpreted_place place, uint64_t end, struct unwound *ret)
{
    bool is_cut, has_caller = walk->machine.cfa && (end == WALKED || end == ARGUS_FRAME_OUTERMOST);
    uint64_t found[ARGUS_STACK_MAX_FRAMES];
    size_t at = ret->count - 1, room = ARGUS_STACK_MAX_FRAMES - 1 - at;
    place.high = has_caller ? walk->machine.cfa : place.low;
    size_t count = interpreted_take(interpreted, &place, found, room, &is_cut);
    if (!count)
        return end;
    /* all but the first are stored like return addresses, one byte further */
    for (size_t i = 0; i < count; i++) {
        ret->frames[at + i] = found[i] + (at + i > 0);
        ret->slots[at + i] = 0;
    }
    ret->count = at + count;
    return is_cut ? ARGUS_FRAME_DEEP : end_at(ret->count, end);
}

void unwinder_frames(struct unwinder *unwinder, const struct argus_snapshot *snapshot,
                     uint32_t process, struct unwound *ret)
{
    struct walk walk = walk_begin(unwinder, snapshot, process);
    struct interpreted interpreted = interpreted_of(unwinder->images->trace, snapshot->id);
    walk.machine.context = &walk;
    bool is_return = false;
    size_t sure_count = 0;
    uint64_t end = WALKED;
    walk.sure = true;
    ret->count = 0;
    if (snapshot->register_count != walk.processor->registers) /* of another processor */
        end = ARGUS_FRAME_UNKNOWN;
    while (end == WALKED) {
        /* the reader treats all frames but the first as return addresses */
        uint64_t exact = ret->count && !is_return ? 1 : 0, pc = walk.machine.registers[walk.pc];
        struct interpreted_place place = {
            .low = walk.machine.registers[walk.sp],
            .function = function_at(&walk, &interpreted, pc - is_return),
        };
        bool sure = walk.sure;
        ret->frames[ret->count++] = pc + exact;
        walk.machine.return_slot = 0;
        walk.is_trampoline = false;
        end = end_at(ret->count, WALKED);
        if (end == WALKED)
            end = walk_up(&walk, &is_return);
        ret->frames[ret->count - 1] += walk.is_trampoline && !exact;
        end = put_interpreted(&walk, &interpreted, place, end, ret);
        if (sure)
            sure_count = ret->count;
        ret->slots[ret->count - 1] = walk.machine.return_slot;
    }
    if (sure_count < ret->count) {
        ret->count = sure_count;
        end = ARGUS_FRAME_UNKNOWN;
    }
    ret->slots[ret->count] = 0;
    if (end != ARGUS_FRAME_OUTERMOST)
        ret->frames[ret->count++] = end;
}
