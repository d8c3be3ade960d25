/* Threads whose event loop does not poll. Most of these wait for a condition, while another thread
 * of the process receives what the loop works for:
 *   - main threads of the processes in which a browser runs the scripts of its pages. Such a
 *     process has no window itself; it is a descendant of one that has, in the same session. (The
 *     commands in a terminal's window have a session of their own.)
 *   - in a process with windows whose main thread never rests in a poll: other threads that have
 *     polled, as a thread that sends to the display server does. In a Java toolkit, such a thread
 *     handles the events. A poll is a rest for these threads, too.
 *   - in a process with windows: a main thread that never rests in a poll, if it is mostly found in
 *     such a wait, and seldom in a poll. In Tcl another thread polls for it.
 * Others read their terminal:
 *   - main threads of programs in the foreground of a terminal, without polls.
 *
 * No record tells such waits from others cheaply, so /proc is sampled. The loop's own wait is the
 * one with the highest stack pointer, as in bpf/poller.h. A thread that no sample finds there is
 * away.
 */
#ifndef ARGUS_RECORDER_LINUX_CONDITION_LOOPS_H
#define ARGUS_RECORDER_LINUX_CONDITION_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "server/backend.h"

struct condition_loops;

struct condition_loops *condition_loops_create(void); /* NULL without memory */
void condition_loops_destroy(struct condition_loops *loops);

/* Appends the loops that are away to the `*count` pollers, of which there may be `room`, or
 * replaces what is there of the same thread. Call it a few times a second. A loop of such
 * a thread that is in its wait counts as polling. Does not list processes whose main thread polls,
 * unless it never rests there. */
void condition_loops_add(struct condition_loops *loops, uint64_t now_ns, struct backend_poller *ret,
                         size_t room, size_t *count);

#endif
