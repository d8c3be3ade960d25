/* The runtime: installs the hooks of a plan in the process into which it has been loaded.
 *
 * Order of an installation: find the image among those that are loaded; compare its build id
 * (without one: the hash of its code); for each hook compare the bytes of the window; get near
 * memory for the trampolines, fill it, make it executable and read-only; then write the jumps
 * (poke.h). A hook that cannot be installed is refused with a sentence on stderr, and the program
 * continues without it.
 *
 * Code is never unmapped while a thread may execute it: trampolines and running hooks stay mapped
 * after a removal, and the runtime is linked with -z nodelete.
 */
#ifndef ARGUS_HOOKS_RUNNING_HOOK_H
#define ARGUS_HOOKS_RUNNING_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus_hook.h"
#include "plan.h"

typedef void (*hook_shell)(const struct argus_hook *hook, struct argus_hook_context *context);

/* A running hook. entry_*.S relies on `shell` being first. */
struct argus_hook {
    hook_shell shell;
    hook_shell user_shell; /* NULL: the built-in one */
    const struct hook_plan *plan;
    const struct hook_entry *entry;
    uint64_t slide; /* loaded address - address in the image */
    uint8_t *code;  /* the trampoline; NULL: never installed */
    bool installed;
};

/* Called by the generated library when it is loaded and unloaded. Thread-safe; ignores a plan that
 * is installed already. */
void argus_hook_install(const struct hook_plan *plan);
void argus_hook_remove(const struct hook_plan *plan);
/* The number of hooks of the plan that are installed now: for tests and for manual installation. */
unsigned argus_hook_count(const struct hook_plan *plan);

/* In a plan. */
static inline const void *plan_at(const struct hook_plan *plan, uint32_t offset)
{
    return (const uint8_t *)plan + offset;
}
static inline const struct hook_entry *plan_entry(const struct hook_plan *plan, uint32_t index)
{
    return (const struct hook_entry *)plan_at(plan, plan->entries) + index;
}

/* Shell functions (shell_functions.c, compiled without floating point). */
void hook_record(const struct argus_hook *hook, struct argus_hook_context *context);
void hook_call_user(const struct argus_hook *hook, struct argus_hook_context *context);

/* Entries from a trampoline to a shell function: the second one saves all registers. */
void argus_hook_enter(void);
void argus_hook_enter_full(void);
/* Before the first use of argus_hook_enter_full(). */
void hook_entry_prepare(void);

/* Prints a message on stderr. */
__attribute__((format(printf, 2, 3))) void hook_say(const struct hook_plan *plan,
                                                    const char *format, ...);

#endif
