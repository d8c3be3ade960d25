#include "steps/describe_member.h"

#include <string.h>

#include "steps/dwarf_registers.h"

enum { X86_MOST = 16 };

static bool is_arm64(const struct run *run)
{
    return instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
}

struct reader {
    const struct run *run;
    uint32_t step;
};

static bool read_register(void *context, unsigned number, uint64_t *ret)
{
    const struct reader *reader = context;
    bool is_x86 = !is_arm64(reader->run);
    if (is_x86 && number >= X86_MOST)
        return false;
    return run_register(reader->run, reader->step, register_of_dwarf(!is_x86, number), ret);
}

/* --- variables of files --- */

static uint64_t code_of(const struct describer *describer, const struct module *module,
                        uint32_t step)
{
    uint64_t pc = describer->run->pcs[step];
    return places_module(describer->run->places, pc) == module ? pc - module->base : 0;
}

bool describe_member(struct describer *describer, uint64_t address, uint32_t step,
                     const struct elf_reach *reach, struct elf_member *ret)
{
    const struct module *module = places_module(describer->run->places, address);
    if (!module || !module->elf)
        return false;
    struct elf_member_root root = {.address = address - module->base,
                                   .code = code_of(describer, module, step)};
    return elf_member_text(module->elf, &root, reach, ret);
}

bool describe_thread_member(struct describer *describer, const struct module *module,
                            uint64_t offset, uint32_t step, const struct elf_reach *reach,
                            struct elf_member *ret)
{
    struct elf_member_root root = {
        .address = offset, .is_thread_local = true, .code = code_of(describer, module, step)};
    return elf_member_text(module->elf, &root, reach, ret);
}

/* --- local variables --- */

/* `number`: a general register; REGISTER_NONE: the word at `address`. */
static bool describe_local(struct describer *describer, uint32_t step, uint8_t number,
                           uint64_t address, const struct elf_reach *reach, struct elf_member *ret)
{
    const struct run *run = describer->run;
    const struct module *module = places_module(run->places, run->pcs[step]);
    struct reader reader = {run, step};
    if (!module || !module->elf)
        return false;
    struct elf_local_root root = {
        .code = run->pcs[step] - module->base,
        .number = number == REGISTER_NONE ? ARGUS_NONE : dwarf_of_register(is_arm64(run), number),
        .address = address,
        .read = read_register,
        .context = &reader,
    };
    return elf_member_local_text(module->elf, &root, reach, ret);
}

bool describe_stack_member(struct describer *describer, uint64_t address, uint32_t step,
                           const struct elf_reach *reach, struct elf_member *ret)
{
    return describe_local(describer, step, REGISTER_NONE, address, reach, ret);
}

static bool try_sighting(struct describer *describer, const struct pointer_path *path,
                         const struct pointer_sighting *sighting, const struct source *source,
                         struct elf_member *ret)
{
    uint32_t first = sighting->has_outer; /* index of the offset behind the pointer itself */
    int64_t offsets[POINTER_LINKS + 2] = {sighting->outer};
    struct elf_reach reach = {.links = first + sighting->links + 1,
                              .offsets = offsets,
                              .size_bytes = source->size_bytes,
                              .bits = source->bits};
    offsets[first] = sighting->added;
    memcpy(offsets + first + 1, path->offsets + (path->links - sighting->links),
           sighting->links * sizeof(*offsets));
    if (!sighting->links)
        offsets[first] += source->skipped_bytes;
    return describe_local(describer, sighting->step, sighting->number, sighting->stack_address,
                          &reach, ret);
}

bool describe_local_member(struct describer *describer, const struct pointer_path *path,
                           const struct source *source, struct elf_member *ret, uint32_t *ret_step)
{
    bool has_numbers = false;
    for (uint32_t i = path->sighting_count; i-- > 0;) {
        struct elf_member one;
        if (!try_sighting(describer, path, &path->sightings[i], source, &one))
            continue;
        bool one_has_numbers = strstr(one.text, "->0x") || strstr(one.text, "->-0x");
        if (*ret->text && (!has_numbers || one_has_numbers))
            continue;
        *ret = one;
        *ret_step = path->sightings[i].step;
        has_numbers = one_has_numbers;
    }
    return *ret->text;
}
