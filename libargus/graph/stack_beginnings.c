/* Functions at which stacks begin. For some of them, unwind information says that they have no
 * caller. For others nothing does: their frame pointers lead to older stack content, and the walk
 * reports that it went wrong. */
#include "graph/stack_beginnings.h"

#include <stddef.h>
#include <string.h>

/* To add one: a row. `has_caller`: the function of another row calls it. `schedules`: below it, a
 * thread looks for a task that it could go on with; its waits are none of a task. */
static const struct beginning {
    const char *function;
    bool has_caller, schedules;
} beginnings[] = {
    /* glibc, musl and the dynamic linker */
    {"main", .has_caller = true},
    {"__libc_start_main", .has_caller = true},
    {"__libc_start_call_main", .has_caller = true},
    {"start_thread", .has_caller = true},
    {"start", .has_caller = true},
    {"__clone_internal", .has_caller = true},
    {"_start", .has_caller = false},
    {"clone", .has_caller = false},
    {"clone3", .has_caller = false},
    {"__clone", .has_caller = false},
    {"__clone3", .has_caller = false},
    {"__GI___clone", .has_caller = false},
    {"__GI___clone3", .has_caller = false},
    {"_dl_start", .has_caller = true},
    {"_dl_start_user", .has_caller = false},
    /* Go's goroutines, its scheduler's own stacks, and its threads (runtime/stubs.go,
       runtime/traceback.go: topofstack()) */
    {"runtime.goexit", .has_caller = false},
    {"runtime.mcall", .schedules = true},
    {"runtime.mstart", .has_caller = true, .schedules = true},
    {"runtime.rt0_go", .has_caller = false},
    {"runtime.clone", .has_caller = false},
    {"runtime.morestack", .has_caller = false},
    {"runtime.systemstack", .has_caller = false},
};

/* Go's linker marks assembler functions by this suffix. */
#define ASSEMBLER_MARK ".abi0"

/* NULL: `function` is not in the table. */
static const struct beginning *find(const char *function)
{
    size_t length = function ? strlen(function) : 0, mark = strlen(ASSEMBLER_MARK);
    if (length > mark && strcmp(function + length - mark, ASSEMBLER_MARK) == 0)
        length -= mark;
    for (size_t i = 0; length && i < sizeof(beginnings) / sizeof(*beginnings); i++)
        if (strlen(beginnings[i].function) == length &&
            strncmp(beginnings[i].function, function, length) == 0)
            return &beginnings[i];
    return NULL;
}

bool stack_begins_in(const char *function)
{
    return find(function) != NULL;
}

bool stack_schedules_in(const char *function)
{
    const struct beginning *beginning = find(function);
    return beginning && beginning->schedules;
}

bool stack_keeps_task(const char *function)
{
    return function && strcmp(function, "runtime.stoplockedm") == 0; /* Go's LockOSThread() */
}

bool stack_is_whole(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack)
{
    if (!stack.count)
        return false;
    uint64_t last = stack.frames[stack.count - 1];
    const struct beginning *beginning =
        find(argus_symbols_function(symbols, process, time_ns, last, stack.count > 1));
    return beginning && !beginning->has_caller;
}
