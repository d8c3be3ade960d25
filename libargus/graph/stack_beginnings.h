/* Functions at which a thread's stack begins: a stack that reaches one of them is complete. */
#ifndef ARGUS_GRAPH_STACK_BEGINNINGS_H
#define ARGUS_GRAPH_STACK_BEGINNINGS_H

#include <stdbool.h>

#include "argus/symbols.h"

/* Whether all or many threads start in `function`; NULL: false. */
bool stack_begins_in(const char *function);

/* Whether a language runtime's scheduler is below `function`: what waits there is a thread without
 * a task. The tasks that wait (Go's goroutines) have no thread. NULL: false. */
bool stack_schedules_in(const char *function);

/* Whether a scheduler's thread waits in `function` for a task of its own, which runs on no other
 * thread. NULL: false. */
bool stack_keeps_task(const char *function);

/* Whether the outermost frame of `stack` is in such a function and has no caller. */
bool stack_is_whole(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack);

#endif
