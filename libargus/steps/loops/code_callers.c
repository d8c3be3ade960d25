/* Callers: functions with a direct call of a function, or of its stub in the procedure linkage
 * table. */
#include <stdlib.h>
#include <string.h>

#include "steps/loops/code_references.h"
#include "steps/loops/code_writers.h"

enum { LEVELS = 2 };

struct search {
    struct elf_file *file;
    struct elf_slots slots;
    VEC(uint64_t) targets;       /* of the level */
    struct code_caller *callers; /* borrowed */
    uint32_t count;
};

static bool is_known(const struct search *search, uint64_t start)
{
    for (uint32_t i = 0; i < search->count; i++)
        if (search->callers[i].start == start)
            return true;
    return false;
}

static void add_caller(struct search *search, uint64_t place)
{
    struct code_caller caller;
    if (search->count < CODE_CALLERS_MAX &&
        elf_file_function_range(search->file, place, &caller.start, &caller.bytes) &&
        !is_known(search, caller.start))
        search->callers[search->count++] = caller;
}

/* adrp x16, PAGE; ldr x17, [x16, SLOT]. `begin`: of the first one. */
static void take_stub_arm64(struct search *search, uint64_t begin, uint64_t slot)
{
    enum { WORD = 4, LOAD = 0xf9400211u, LOAD_MASK = 0xffc003ffu, BTI = 0xd503245fu };
    uint32_t code[2];
    uint64_t offset;
    if (!elf_file_offset(search->file, begin, &offset) ||
        !elf_file_read(search->file, offset, sizeof(code), code) || (code[0] & 31) != 16 ||
        (code[1] & LOAD_MASK) != LOAD || (code[1] >> 10 & 0xfff) * 8 != (slot & 0xfff))
        return;
    if (vec_push(&search->targets, begin) &&
        elf_file_read(search->file, offset - WORD, WORD, code) && code[0] == BTI)
        (void)vec_push(&search->targets, begin - WORD);
}

/* Whether stubs begin there: the call frame information has one range for all of them. A stub
 * begins with endbr64, a prefix, and then a jump or push of a word of the table. */
static bool is_table_of_stubs(const struct elf_file *file, uint64_t start)
{
    enum { ENDBR64 = 0xfa1e0ff3u, BND = 0xf2, INDIRECT = 0xff, JUMP = 0x25, PUSH = 0x35 };
    uint8_t code[8];
    uint32_t first;
    uint64_t offset;
    if (!elf_file_offset(file, start, &offset) || !elf_file_read(file, offset, sizeof(code), code))
        return false;
    memcpy(&first, code, sizeof(first));
    const uint8_t *at = first == ENDBR64 ? code + sizeof(first) : code;
    at += *at == BND;
    return at[0] == INDIRECT && (at[1] == JUMP || at[1] == PUSH);
}

/* A jump through the table from within a function, as a tail call (-fno-plt). */
static bool is_tail_call(const struct search *search, uint64_t begin)
{
    uint64_t start, bytes;
    return elf_file_function_range(search->file, begin, &start, &bytes) &&
           !is_table_of_stubs(search->file, start);
}

/* Of an instruction with a distance to a slot at `place`. A stub begins with endbr64, also with the
 * prefix bnd, or right there; a call needs no stub. */
static void take_slot_use(struct search *search, uint64_t place)
{
    enum { INDIRECT = 0xff, CALL = 0x15, JUMP = 0x25, ENDBR_BYTES = 4 };
    uint8_t code[2];
    uint64_t offset, begin = place - sizeof(code);
    if (!elf_file_offset(search->file, begin, &offset) ||
        !elf_file_read(search->file, offset, sizeof(code), code) || code[0] != INDIRECT)
        return;
    if (code[1] == CALL || (code[1] == JUMP && is_tail_call(search, begin)))
        add_caller(search, place);
    for (unsigned before = 0; code[1] == JUMP && before <= ENDBR_BYTES + 1; before++)
        if (!vec_push(&search->targets, begin - before))
            return;
}

static void add_stubs_of(struct search *search, uint64_t slot)
{
    struct code_references references = {0};
    bool is_arm64 = elf_file_machine(search->file) == ELF_MACHINE_AARCH64;
    code_references_add(&references, search->file, slot, 8);
    for (size_t i = 0; i < references.places.length; i++) {
        if (is_arm64)
            take_stub_arm64(search, references.places.data[i], slot);
        else
            take_slot_use(search, references.places.data[i]);
    }
    code_references_deinit(&references);
}

static void add_stubs(struct search *search, uint64_t start)
{
    for (size_t i = 0; i < search->slots.all.length; i++)
        if (search->slots.all.data[i].is_defined && search->slots.all.data[i].value == start)
            add_stubs_of(search, search->slots.all.data[i].place);
}

static int by_value(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void find_calls(struct search *search)
{
    struct code_references calls = {0};
    if (search->targets.length)
        qsort(search->targets.data, search->targets.length, sizeof(uint64_t), by_value);
    code_references_add_calls(&calls, search->file, search->targets.data, search->targets.length);
    for (size_t i = 0; i < calls.places.length; i++)
        add_caller(search, calls.places.data[i]);
    code_references_deinit(&calls);
    search->targets.length = 0;
}

static void add_target(struct search *search, uint64_t start)
{
    if (vec_push(&search->targets, start))
        add_stubs(search, start);
}

/* The callers of the targets, level by level. */
static void find_levels(struct search *search)
{
    uint32_t done = 0;
    find_calls(search);
    for (unsigned level = 1; level < LEVELS; level++) {
        for (uint32_t end = search->count; done < end; done++)
            add_target(search, search->callers[done].start);
        find_calls(search);
    }
}

static void search_end(struct search *search)
{
    elf_slots_deinit(&search->slots);
    vec_deinit(&search->targets);
}

uint32_t code_callers_find(struct elf_file *file, const uint64_t *starts, uint32_t count,
                           struct code_caller *ret)
{
    struct search search = {.file = file, .callers = ret};
    elf_slots_init(&search.slots, file);
    for (uint32_t i = 0; i < count; i++)
        add_target(&search, starts[i]);
    find_levels(&search);
    search_end(&search);
    return search.count;
}

static bool is_named(const char *name, const char *const *names, uint32_t count)
{
    while (count > 0 && strcmp(names[count - 1], name) != 0)
        count--;
    return count > 0;
}

uint32_t code_callers_find_imported(struct elf_file *file, const char *const *names, uint32_t count,
                                    struct code_caller *ret)
{
    struct search search = {.file = file, .callers = ret};
    elf_slots_init(&search.slots, file);
    for (size_t i = 0; i < search.slots.all.length; i++) {
        const struct elf_slot *slot = &search.slots.all.data[i];
        if (!slot->is_defined && is_named(slot->name, names, count))
            add_stubs_of(&search, slot->place);
    }
    if (search.targets.length || search.count)
        find_levels(&search);
    search_end(&search);
    return search.count;
}

uint32_t code_callers_of_mapping(struct elf_file *file, struct code_caller *ret)
{
    static const char *const names[] = {"mmap", "mmap64", "shmat"};
    return code_callers_find_imported(file, names, sizeof(names) / sizeof(names[0]), ret);
}
