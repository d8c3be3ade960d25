/* The signals and wake-ups around a watchpoint or a step: instrumentation, not the program's own
 * work.
 *
 * A debugger's watchpoint raises SIGTRAP in the thread that hits it (an exception). The thread
 * stops, which wakes the debugger; the debugger inspects it and wakes it again. None of these
 * wake-ups explains why the program is slow or waits; with them, the debugger would seem to be the
 * cause of everything. The stop itself remains a wait of the thread ("stopped"). The exchange lasts
 * from the signal to the thread's next system call or to its wake-up.
 */
#include "graph/rules/wakeup.h"

bool match_watchpoint(const struct wakeup *wakeup)
{
    const struct thread_state *wakee = thread_at(wakeup->builder, wakeup->wakee);
    bool wakes = wakeup->waker != ARGUS_NONE && wakeup->context == ARGUS_CONTEXT_TASK &&
                 thread_at(wakeup->builder, wakeup->waker)->trapped;
    bool stopped = wakee->trapped && wakee->activity == THREAD_WAITING &&
                   slot_at(wakeup->builder, wakee->slot)->wait.kind == ARGUS_WAIT_STOPPED;
    return wakes || stopped;
}

void act_watchpoint(const struct wakeup *wakeup, struct cause *ret)
{
    struct thread_state *wakee = thread_at(wakeup->builder, wakeup->wakee);
    if (wakee->activity == THREAD_WAITING)
        wakee->trapped = false;
    (void)ret;
}
