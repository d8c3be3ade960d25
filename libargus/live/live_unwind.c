#include <assert.h>
#include <string.h>

#include "event/unwind/unwind_frame.h"
#include "event/unwind/unwind_processor.h"
#include "live/live_data.h"
#include "live/live_go_unwind.h"
#include "live/live_images.h"

static_assert(LIVE_REGISTERS == CFI_REGISTERS, "unwind/cfi_expression.h");

enum {
    SEARCH_BYTES = 4096, /* how far above the stack pointer a frame is searched */
    WORD = 8,
    CALL_BYTES = 5, /* x86's direct call: e8 and a 32-bit distance */
    PAGE = 4096,
    PAGES = 8,
};

/* Copied pages of the stack, so that a stack costs few system calls. */
struct pages {
    uint64_t address[PAGES];
    uint8_t bytes[PAGES][PAGE];
    bool is_known[PAGES];
};

struct walk {
    struct argus_live *live;
    const struct unwind_processor *processor;
    struct cfi_machine machine;
    struct pages *pages;
    const struct live_moment *moment;
    uint32_t pid;
};

static bool read_copied(const struct live_moment *moment, uint64_t address, uint64_t *ret)
{
    if (address < moment->stack_address || moment->stack_bytes < WORD ||
        address - moment->stack_address > moment->stack_bytes - WORD)
        return false;
    memcpy(ret, moment->stack + (address - moment->stack_address), sizeof(*ret));
    return true;
}

static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
    struct walk *walk = context;
    if (read_copied(walk->moment, address, ret))
        return true;
    uint64_t page = address & ~(uint64_t)(PAGE - 1);
    size_t at = address / PAGE % PAGES;
    if (address - page > PAGE - WORD)
        return live_memory(walk->pid, address, ret, sizeof(*ret));
    if (!walk->pages->is_known[at] || walk->pages->address[at] != page) {
        walk->pages->is_known[at] = live_memory(walk->pid, page, walk->pages->bytes[at], PAGE);
        walk->pages->address[at] = page;
    }
    if (!walk->pages->is_known[at])
        return false;
    memcpy(ret, walk->pages->bytes[at] + (address - page), sizeof(*ret));
    return true;
}

static uint64_t pc_of(const struct walk *walk)
{
    return walk->machine.registers[walk->processor->registers - 1];
}

/* Whether `address` is behind a call that can be the call of the function at `pc`. */
static bool calls(struct walk *walk, uint64_t address, uint64_t pc)
{
    uint8_t code[FRAME_CALL_BYTES];
    uint64_t in_file, callee_in_file, start;
    struct live_elf *caller = live_elf(walk->live, walk->pid, address - 1, &in_file);
    uint64_t offset;
    if (!caller || !elf_file_offset(caller->elf, in_file, &offset) || offset + 1 < sizeof(code) ||
        !elf_file_read(caller->elf, offset + 1 - sizeof(code), sizeof(code), code) ||
        !frame_is_call(code, sizeof(code), walk->processor->machine))
        return false;
    struct live_elf *callee = live_elf(walk->live, walk->pid, pc, &callee_in_file);
    if (code[sizeof(code) - CALL_BYTES] != 0xe8 || callee != caller)
        return true;
    int32_t distance;
    memcpy(&distance, code + sizeof(code) - 4, sizeof(distance));
    return elf_file_function_start(callee->elf, callee_in_file, &start) &&
           start == in_file + 1 + (uint64_t)(int64_t)distance;
}

enum step {
    STEP_DONE,
    STEP_OUTERMOST, /* call frame information says that this function has no caller */
    STEP_ZERO,      /* the return address is 0: so it looks at many places that are no frame */
    STEP_NEEDS_FRAME,
    STEP_FAILED,
};

static enum step step_by_frame(struct walk *walk)
{
    uint64_t pc = pc_of(walk);
    if (!(walk->machine.known >> walk->processor->frame & 1))
        return STEP_NEEDS_FRAME;
    if (frame_step(&walk->machine, walk->processor) != FRAME_STEPPED ||
        !calls(walk, pc_of(walk), pc))
        return STEP_FAILED;
    return STEP_DONE;
}

static enum step step(struct walk *walk, bool is_return)
{
    uint64_t in_file, before = walk->machine.cfa;
    struct live_elf *file = live_elf(walk->live, walk->pid, pc_of(walk) - is_return, &in_file);
    enum live_go_step go =
        file ? live_go_step(file->elf, in_file, walk->processor, &walk->machine) : LIVE_GO_NONE;
    if (go != LIVE_GO_NONE)
        return go == LIVE_GO_STEPPED ? STEP_DONE : STEP_OUTERMOST;
    const struct cfi_row *row = file ? cfi_find(&file->cfi, in_file) : NULL;
    if (!row)
        return step_by_frame(walk);
    if (row->cfa.kind != CFI_EXPRESSION && row->cfa_register == walk->processor->frame &&
        !(walk->machine.known >> row->cfa_register & 1))
        return STEP_NEEDS_FRAME;
    switch (cfi_step(&file->cfi, row, &walk->machine)) {
    case CFI_STEPPED:
        return before && !row->is_signal && walk->machine.cfa <= before ? STEP_FAILED : STEP_DONE;
    case CFI_OUTERMOST:
        return row->registers[row->return_register].kind == CFI_UNDEFINED ? STEP_OUTERMOST
                                                                          : STEP_ZERO;
    case CFI_NO_MEMORY:
    case CFI_BROKEN:
        break;
    }
    return STEP_FAILED;
}

struct frames {
    uint64_t *addresses;
    size_t count;
};

/* Returns why it stopped. */
static enum step go_up(struct walk *walk, struct frames *frames)
{
    enum step result = STEP_DONE;
    while (result == STEP_DONE && frames->count < LIVE_STACK_FRAMES) {
        bool is_return = frames->count > 0;
        frames->addresses[frames->count++] = pc_of(walk);
        result = step(walk, is_return);
    }
    return result;
}

/* Whether a return address is above the word at `at`. That word is the caller's frame pointer,
 * which may have any value if the caller does not use one. */
static bool is_frame(struct walk *walk, uint64_t at)
{
    uint64_t address;
    return read_word(walk, at + WORD, &address) && calls(walk, address, pc_of(walk));
}

/* Searches the frame pointer of the function at which `walk` is. */
static enum step search_frame(struct walk *walk, struct frames *frames)
{
    const struct walk here = *walk;
    uint64_t sp = walk->machine.registers[walk->processor->stack];
    size_t count = frames->count;
    for (uint64_t at = sp; at < sp + SEARCH_BYTES; at += WORD) {
        *walk = here;
        if (!is_frame(walk, at))
            continue;
        walk->machine.registers[walk->processor->frame] = at;
        walk->machine.known |= 1ull << walk->processor->frame;
        frames->count = count - 1;
        if (go_up(walk, frames) == STEP_OUTERMOST)
            return STEP_OUTERMOST;
        frames->count = count;
    }
    *walk = here;
    return STEP_FAILED;
}

const struct unwind_processor *live_own_processor(void)
{
#if defined(__aarch64__)
    return unwind_processor_of(ELF_MACHINE_AARCH64);
#else
    return unwind_processor_of(ELF_MACHINE_X86_64);
#endif
}

size_t live_stack_at(struct argus_live *live, uint32_t pid, const struct live_moment *moment,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut)
{
    struct pages pages = {0};
    struct frames frames = {.addresses = ret};
    struct walk walk = {.live = live,
                        .pages = &pages,
                        .moment = moment,
                        .pid = pid,
                        .processor = live_own_processor()};
    memcpy(walk.machine.registers, moment->registers, sizeof(walk.machine.registers));
    walk.machine.known = moment->known;
    walk.machine.read = read_word;
    walk.machine.context = &walk;
    enum step result = go_up(&walk, &frames);
    if (result == STEP_NEEDS_FRAME)
        result = search_frame(&walk, &frames);
    *ret_cut = result != STEP_OUTERMOST && result != STEP_ZERO;
    return frames.count;
}

size_t live_stack(struct argus_live *live, uint32_t thread, uint64_t ret[LIVE_STACK_FRAMES],
                  bool *ret_cut)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const struct unwind_processor *processor = live_own_processor();
    struct live_moment moment = {.stack = NULL};
    *ret_cut = false;
    if (!of->pc)
        return 0;
    moment.registers[processor->stack] = of->sp;
    moment.registers[processor->registers - 1] = of->pc;
    moment.known = 1ull << processor->stack | 1ull << (processor->registers - 1);
    return live_stack_at(live, live_pid_of(live, thread), &moment, ret, ret_cut);
}
