/* Functions at which stacks begin. For some of them, unwind information says that they have no
 * caller. For others nothing does: their frame pointers lead to older stack content, and the walk
 * reports that it went wrong. */
#include "graph/stack_beginnings.h"

#include <stddef.h>
#include <string.h>

/* To add one: a row. `has_caller`: the function of another row calls it. */
static const struct {
    const char *function;
    bool has_caller;
} beginnings[] = {
    /* glibc, musl and the dynamic linker */
    {"main", true},
    {"__libc_start_main", true},
    {"__libc_start_call_main", true},
    {"start_thread", true},
    {"start", true},
    {"__clone_internal", true},
    {"_start", false},
    {"clone", false},
    {"clone3", false},
    {"__clone", false},
    {"__clone3", false},
    {"__GI___clone", false},
    {"__GI___clone3", false},
    {"_dl_start", true},
    {"_dl_start_user", false},
    /* Go's goroutines, its scheduler's own stacks, and its threads (runtime/stubs.go, runtime/traceback.go: topofstack()) */
    {"runtime.goexit", false},
    {"runtime.mcall", false},
    {"runtime.mstart", true},
    {"runtime.rt0_go", false},
    {"runtime.clone", false},
    {"runtime.morestack", false},
    {"runtime.systemstack", false},
};

/* Go's linker marks assembler functions by this suffix. */
#define ASSEMBLER_MARK ".abi0"

/* The row's has_caller; NULL: `function` is not in the table. */
static const bool *find(const char *function)
{
    size_t length = function ? strlen(function) : 0, mark = strlen(ASSEMBLER_MARK);
    if (length > mark && strcmp(function + length - mark, ASSEMBLER_MARK) == 0)
        length -= mark;
    for (size_t i = 0; length && i < sizeof(beginnings) / sizeof(*beginnings); i++)
        if (strlen(beginnings[i].function) == length &&
            strncmp(beginnings[i].function, function, length) == 0)
            return &beginnings[i].has_caller;
    return NULL;
}

bool stack_begins_in(const char *function)
{
    return find(function) != NULL;
}

bool stack_is_whole(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack)
{
    if (!stack.count)
        return false;
    uint64_t last = stack.frames[stack.count - 1];
    const bool *has_caller =
        find(argus_symbols_function(symbols, process, time_ns, last, stack.count > 1));
    return has_caller && !*has_caller;
}
