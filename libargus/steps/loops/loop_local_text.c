#include "steps/loops/loop_local_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/event.h"
#include "event/names/demangle.h"
#include "steps/dwarf_registers.h"
#include "steps/loops/code_function.h"

/* --- by debug information --- */

/* Where the register of a stack's word points to does not matter. */
struct frame {
    uint8_t number; /* DWARF's */
    uint64_t value;
};

static bool read_frame(void *context, unsigned number, uint64_t *ret)
{
    const struct frame *frame = context;
    *ret = frame->value;
    return number == frame->number;
}

static bool is_arm64(struct elf_file *file)
{
    return elf_file_machine(file) == ELF_MACHINE_AARCH64;
}

static bool find_slot(struct elf_file *file, uint64_t code, struct code_slot slot,
                      const struct elf_reach *reach, struct elf_member *ret)
{
    struct frame frame = {(uint8_t)dwarf_of_register(is_arm64(file), slot.reg), UINT64_C(1) << 40};
    struct elf_local_root root = {.code = code,
                                  .number = ARGUS_NONE,
                                  .address = frame.value + (uint64_t)slot.displacement,
                                  .read = read_frame,
                                  .context = &frame};
    return elf_member_local_text(file, &root, reach, ret);
}

static bool find_register(struct elf_file *file, const struct code_sighting *seen,
                          const struct elf_reach *reach, struct elf_member *ret)
{
    struct elf_local_root root = {.code = seen->code,
                                  .number = dwarf_of_register(is_arm64(file), seen->slot.reg),
                                  .read = read_frame,
                                  .context = &(struct frame){REGISTER_NONE, 0}};
    return elf_member_local_text(file, &root, reach, ret);
}

/* By a variable that has the pointer. */
static bool find_sighting(struct elf_file *file, const struct code_sighting *seen,
                          const struct elf_reach *reach, struct elf_member *ret)
{
    int64_t offsets[CODE_PATH_LINKS];
    struct elf_reach moved = *reach;
    if (!reach->links)
        return false;
    memcpy(offsets, reach->offsets, reach->links * sizeof(*offsets));
    offsets[0] -= seen->value;
    moved.offsets = offsets;
    return seen->is_slot ? find_slot(file, seen->code, seen->slot, &moved, ret)
                         : find_register(file, seen, &moved, ret);
}

static bool has_numbers(const struct elf_member *member)
{
    return strstr(member->text, "->0x") || strstr(member->text, "->-0x");
}

/* The function that has the object comes first, then those that it calls. */
bool loop_local_member(struct elf_file *file, const struct loop_local *local,
                       const struct elf_reach *reach, struct elf_member *ret)
{
    bool is_found = false;
    if (!local->is_object)
        return find_slot(file, local->code, local->slot, reach, ret);
    for (uint32_t i = 0; i < local->seen_count && (!is_found || has_numbers(ret)); i++) {
        struct elf_member one;
        if (!find_sighting(file, &local->seen[i], reach, &one) || (is_found && has_numbers(&one)))
            continue;
        *ret = one;
        is_found = true;
    }
    return is_found;
}

/* --- by symbols --- */

char *loop_function_name(struct elf_file *file, uint64_t start)
{
    uint64_t offset;
    const char *symbol = elf_file_function(file, start, &offset);
    if (!symbol || offset != 0)
        return NULL;
    char *readable = demangle(symbol);
    return readable ? readable : strdup(symbol);
}

/* Counts from 1. */
static unsigned argument_of(const struct loop_flag *flag)
{
    const struct loop_local *local = &flag->local;
    struct code_function machine = {.is_arm64 = is_arm64(flag->file)};
    unsigned argument = 0;
    if (machine.is_arm64)
        return local->slot.reg + 1u;
    machine.is_go = elf_file_go_code(flag->file, local->function) == ELF_GO_REGISTERS;
    while (argument + 1 < CODE_ARGUMENTS && code_argument(&machine, argument) != local->slot.reg)
        argument++;
    return argument + 1;
}

void loop_local_text(const struct loop_flag *flag, char *buffer, size_t bytes)
{
    const struct loop_local *local = &flag->local;
    char address[32], *function = loop_function_name(flag->file, local->function);
    const char *of = function ? function : address;
    snprintf(address, sizeof(address), "0x%" PRIx64, local->function);
    int64_t displacement = local->slot.displacement;
    if (!local->is_object)
        snprintf(buffer, bytes, "stack of %s%s0x%" PRIx64, of, displacement < 0 ? "-" : "+",
                 (uint64_t)(displacement < 0 ? -displacement : displacement));
    else if (local->slot.reg == REGISTER_NONE)
        snprintf(buffer, bytes, "object of %s", of);
    else
        snprintf(buffer, bytes, "argument %u of %s", argument_of(flag), of);
    free(function);
}
