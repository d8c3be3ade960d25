#include "steps/loops/loop_frames.h"

#include <stddef.h>
#include <string.h>

/* How the names of functions begin that wait for their caller, also where they are linked into the
 * program. To add one: a row. */
bool loop_is_waiting_function(const char *function)
{
    static const char *const beginnings[] = {"std::",
                                             "core::",
                                             "<std::",
                                             "<core::",
                                             "usleep",
                                             "nanosleep",
                                             "clock_nanosleep",
                                             "sched_yield",
                                             "g_usleep",
                                             "__nanosleep",
                                             "__clock_nanosleep",
                                             "__sched_yield",
                                             "SDL_Delay",
                                             "g_poll",
                                             "__poll",
                                             "syscall.",
                                             "runtime.",
                                             "time.Sleep",
                                             "internal/runtime/syscall"}; /* Go's */
    for (size_t i = 0; function && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}
