/* Which functions a call through a pointer executes, as far as the file's code tells. */
#ifndef ARGUS_STEPS_CODE_TARGETS_H
#define ARGUS_STEPS_CODE_TARGETS_H

#include "steps/loops/code_calls.h"
#include "steps/loops/code_paths.h"

#define CODE_TARGETS_MAX 4

struct code_targets {
    struct {
        const struct code_image *image; /* borrowed */
        uint64_t address;
    } all[CODE_TARGETS_MAX];
    uint32_t count; /* 0: the code does not tell */
    bool is_whole;  /* nothing else is stored where the call reads the address */
};

/* Of the call at `node`, or the jump that leaves the function:
 *   - the pointer was handed on: wait_until(is_done, &job);
 *   - it is a variable: with which it begins, and which addresses functions store there;
 *   - it is in a table to which a variable points: virtual functions,
 * `device->operations->is_ready()`. */
void code_targets_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                       struct code_targets *ret);

/* Like code_call_target(); also of a call through a register that has one function's address, which
 * compilers load before a loop. */
bool code_call_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    struct code_target *ret);

/* Whether the call, which leads to `target`, is futex(2) by its number, `syscall(SYS_futex, …)`: it
 * changes no more than the word that it is given. */
bool code_call_is_futex(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                        const struct code_target *target);

/* Whether the instruction at `node` compares a word with the address of a function. Compilers do so
 * before they call what a table of functions probably has (`-fdevirtualize-speculatively`). */
bool code_compares_function(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node);

#endif
