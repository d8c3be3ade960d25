/* Describes where a variable is, and builds the command that watches it.
 *
 * A variable of a file is given relative to the file, so that the command also works for other
 * processes. An object on the heap is given by the pointers that led to it, if they begin at a
 * variable. Otherwise it is given by its address, like a variable on the stack; an address is valid
 * only in that process and only during the object's life.
 */
#include "steps/describe.h"

#include <string.h>

#include "steps/describe_member.h"
#include "steps/describe_path.h"
#include "steps/watch_command.h"

/* "settings", "settings+0x8", or for a file without symbols the address in it: "0x4010". */
static const char *variable_text(struct describer *describer, const struct argus_flag_candidate *of)
{
    if (!of->symbol)
        return describe_text(describer, "0x%llx", (unsigned long long)of->image_offset);
    if (!of->symbol_offset)
        return of->symbol;
    return describe_text(describer, "%s+0x%llx", of->symbol, (unsigned long long)of->symbol_offset);
}

static void find_variable(struct describer *describer, uint64_t address,
                          struct argus_flag_candidate *ret)
{
    const struct module *module = places_module(describer->run->places, address);
    struct elf_variable variable;
    ret->image = describe_text(describer, "%s", module->path);
    ret->image_offset = address - module->base;
    if (module->elf && elf_file_variable_at(module->elf, ret->image_offset, false, &variable)) {
        ret->symbol = describe_symbol(describer, variable.name);
        ret->symbol_offset = variable.offset;
    }
}

static uint64_t own_pid(const struct describer *describer)
{
    return argus_steps_about(describer->run->steps)->pid;
}

static const char *by_name(struct describer *describer, const char *image, const char *what,
                           uint32_t bytes)
{
    char text[1024];
    return describe_text(
        describer, "%s",
        watch_command_text(own_pid(describer), image, what, bytes, text, sizeof(text)));
}

static const char *by_address(struct describer *describer, uint64_t address, uint32_t bytes)
{
    return describe_text(describer, "argus watchflag %llu 0x%llx --size %u",
                         (unsigned long long)own_pid(describer), (unsigned long long)address,
                         bytes);
}

/* --- the kinds --- */

static struct elf_reach reach_of(const struct source *source, const struct pointer_path *path)
{
    return (struct elf_reach){.links = path ? path->links : 0,
                              .offsets = path ? path->offsets : NULL,
                              .size_bytes = source->size_bytes,
                              .bits = source->bits};
}

/* Names a variable of the file, or of the thread (`*ret->member` is set). What is to be watched is
 * called so, too, if it begins with the member. */
static const char *named(struct describer *describer, const struct elf_member *member,
                         const char *by_offsets, struct argus_flag_candidate *ret)
{
    ret->member = describe_text(describer, "%s", member->text);
    return member->skipped_bytes ? by_offsets : ret->member;
}

static void describe_variable(struct describer *describer, const struct source *source,
                              struct argus_flag_candidate *ret)
{
    struct elf_reach reach = reach_of(source, NULL);
    struct elf_member member;
    ret->where = ARGUS_FLAG_VARIABLE;
    find_variable(describer, ret->address, ret);
    const char *text = variable_text(describer, ret);
    if (describe_member(describer, ret->address, source->step, &reach, &member))
        text = named(describer, &member, text, ret);
    ret->command =
        by_name(describer, ret->image, text, watchable_bytes(ret->address, ret->size_bytes));
}

/* x86-64: below fs_base, where the program's own variables are the last block. arm64: two words
 * above tpidr. */
static bool describe_thread_local(struct describer *describer, const struct source *source,
                                  struct argus_flag_candidate *ret)
{
    const struct run *run = describer->run;
    struct elf_reach reach = reach_of(source, NULL);
    struct elf_member member;
    uint32_t step = source->step;
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    uint64_t thread;
    if (!run_register(run, step, arm64 ? ARGUS_ARM64_TPIDR : ARGUS_X86_FS_BASE, &thread) || !thread)
        return false;
    for (size_t i = 0; i < run->places->modules.length; i++) {
        const struct module *module = &run->places->modules.data[i];
        struct elf_variable variable;
        uint64_t block = module->elf && elf_file_is_program(module->elf)
                             ? elf_file_thread_block(module->elf)
                             : 0;
        uint64_t offset = ret->address - (arm64 ? thread + 16 : thread - block);
        if (offset >= block || !elf_file_variable_at(module->elf, offset, true, &variable))
            continue;
        ret->where = ARGUS_FLAG_THREAD_LOCAL;
        ret->image = describe_text(describer, "%s", module->path);
        ret->image_offset = offset;
        ret->symbol = describe_symbol(describer, variable.name);
        ret->symbol_offset = variable.offset;
        const char *text = variable_text(describer, ret);
        if (describe_thread_member(describer, module, offset, step, &reach, &member))
            text = named(describer, &member, text, ret);
        ret->command = describe_text(
            describer, "%s --tid %llu",
            by_name(describer, ret->image, text, watchable_bytes(ret->address, ret->size_bytes)),
            (unsigned long long)argus_steps_about(run->steps)->tid);
        return true;
    }
    return false;
}

/* The function whose local variable it is: the innermost open call whose stack pointer was above
 * the address when it began. */
static const char *frame_of(struct describer *describer, uint32_t step, uint64_t address)
{
    const struct run *run = describer->run;
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    for (uint32_t a = run->activation_of[step]; a != ARGUS_NONE;
         a = run->activations.data[a].caller) {
        uint64_t sp;
        uint32_t first = run->activations.data[a].first_step;
        if (first == ARGUS_NONE ||
            !run_register(run, first, arm64 ? REGISTER_X31 : REGISTER_RSP, &sp))
            continue;
        if (sp > address)
            return describe_text(describer, "in the stack frame of %s, 0x%llx below its beginning",
                                 describe_function(describer, run->pcs[first]),
                                 (unsigned long long)(sp - address));
    }
    return "at the stack, in the frame of a function that was called before the trace began";
}

static void describe_stack(struct describer *describer, const struct source *source,
                           struct argus_flag_candidate *ret)
{
    struct elf_reach reach = reach_of(source, NULL);
    struct elf_member member;
    ret->where = ARGUS_FLAG_STACK;
    ret->detail = frame_of(describer, source->step, ret->address);
    if (describe_stack_member(describer, ret->address, source->step, &reach, &member)) {
        named(describer, &member, NULL, ret);
        ret->member_in = describe_function(describer, describer->run->pcs[source->step]);
    }
    ret->command =
        by_address(describer, ret->address, watchable_bytes(ret->address, ret->size_bytes));
}

static bool has_numbers(const char *member)
{
    return strstr(member, "->0x") || strstr(member, "->-0x");
}

/* By a variable of the file, or else by a local one, if that names more. */
static void describe_members(struct describer *describer, const struct pointer_path *path,
                             const struct source *source, struct argus_flag_candidate *ret)
{
    struct elf_reach reach = reach_of(source, path);
    struct elf_member member, local = {.skipped_bytes = 0};
    uint32_t step = 0;
    bool is_global = path->root == ROOT_VARIABLE && path->links &&
                     describe_member(describer, path->address, path->root_step, &reach, &member);
    if (is_global) {
        const char *text = named(describer, &member, ret->path, ret);
        ret->command =
            by_name(describer, ret->image, text, watchable_bytes(ret->address, ret->size_bytes));
    }
    if ((is_global && !has_numbers(member.text)) ||
        !describe_local_member(describer, path, source, &local, &step) ||
        (is_global && has_numbers(local.text)))
        return;
    named(describer, &local, NULL, ret);
    ret->member_in = describe_function(describer, describer->run->pcs[step]);
}

static void describe_path(struct describer *describer, const struct pointer_path *path,
                          struct argus_flag_candidate *ret)
{
    struct argus_flag_candidate root = {0};
    if (path->root == ROOT_VARIABLE && path->links) {
        find_variable(describer, path->address, &root);
        ret->path = describe_offsets(describer, path, variable_text(describer, &root));
        ret->image = root.image;
        ret->command = by_name(describer, root.image, ret->path,
                               watchable_bytes(ret->address, ret->size_bytes));
    } else if (path->root == ROOT_CALL) {
        ret->path = describe_offsets(
            describer, path,
            describe_text(describer, "%s()", describe_skipped(describer, path->step)));
        ret->detail = "in an object that a function of a library returned";
    } else if (path->root == ROOT_REGISTER) {
        ret->path =
            describe_offsets(describer, path, describe_register_name(describer, path->number));
        ret->detail = describe_register(describer, path->number);
    }
}

void describe_memory(struct describer *describer, const struct source *source,
                     struct argus_flag_candidate *ret)
{
    const struct run *run = describer->run;
    struct pointer_path path;
    ret->address = source->has_address ? source->address : 0;
    ret->size_bytes = source->size_bytes;
    ret->load = describe_code(describer, run->pcs[source->step]);
    ret->where = ARGUS_FLAG_UNKNOWN;
    if (!source->has_address) {
        ret->detail = "registers were not recorded at this step, so its address is not known";
        return;
    }
    if (places_module(run->places, source->address)) {
        describe_variable(describer, source, ret);
    } else if (describe_thread_local(describer, source, ret)) {
        return;
    } else if (dataflow_at_stack(run, source->step, source->address)) {
        describe_stack(describer, source, ret);
    } else {
        ret->where = ARGUS_FLAG_HEAP;
        ret->command =
            by_address(describer, ret->address, watchable_bytes(ret->address, ret->size_bytes));
        pointer_path_find(run, source->step, source->operand, &path);
        if (path.links)
            path.offsets[path.links - 1] += source->skipped_bytes;
        describe_path(describer, &path, ret);
        describe_members(describer, &path, source, ret);
    }
}
