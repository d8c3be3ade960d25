/* Names memory by members, by the types in debug information. */
#ifndef ARGUS_STEPS_DESCRIBE_MEMBER_H
#define ARGUS_STEPS_DESCRIBE_MEMBER_H

#include "event/binary/elf_members.h"
#include "steps/describe.h"
#include "steps/pointer_path.h"

/* A variable of a file, or the first pointer on the way; `step` used it. False: there are no names.
 */
bool describe_member(struct describer *describer, uint64_t address, uint32_t step,
                     const struct elf_reach *reach, struct elf_member *ret);

/* The same for the thread's own copy of a thread-local variable. */
bool describe_thread_member(struct describer *describer, const struct module *module,
                            uint64_t offset, uint32_t step, const struct elf_reach *reach,
                            struct elf_member *ret);

/* A word on the stack, by the local variables of the function that read it at `step`. */
bool describe_stack_member(struct describer *describer, uint64_t address, uint32_t step,
                           const struct elf_reach *reach, struct elf_member *ret);

/* By a local variable or parameter on the way of `path`, the farthest from the memory. `*ret_step`
 * is in its function. */
bool describe_local_member(struct describer *describer, const struct pointer_path *path,
                           const struct source *source, struct elf_member *ret, uint32_t *ret_step);

#endif
