/* What a thread does (runs, waits, is runnable): activity.c. */
#ifndef ARGUS_GRAPH_ACTIVITY_H
#define ARGUS_GRAPH_ACTIVITY_H

#include "graph/build/actor.h"

struct builder;
struct cpu_state;

/* Adds the time that `thread` ran until now to its vertex, unless an interrupt has its cpu. */
void thread_account(struct builder *builder, uint32_t thread, uint64_t now_ns);
/* `thread` runs on `cpu`. `seen`: a switch record says so; otherwise this is inferred from a record
 * that the thread emitted. */
void thread_run(struct builder *builder, uint32_t thread, struct cpu_state *cpu, bool seen);
void thread_preempt(struct builder *builder, uint32_t thread);
void thread_block(struct builder *builder, uint32_t thread, uint64_t os_state);
/* `thread`, which has no vertex, waits now. */
void thread_begin_waiting(struct builder *builder, uint32_t thread, uint64_t os_state);
/* `thread` has left the system call in which it could send or receive, or sleeps in it. */
void thread_rests(struct builder *builder, uint32_t thread);
/* `thread` was made runnable; `cause` may say by which thread or device. */
void thread_wake(struct builder *builder, uint32_t thread, const struct cause *cause);
void thread_gone(struct builder *builder, uint32_t thread);
/* `thread` died in a system call that never returned: its death ended the wait. */
void thread_killed(struct builder *builder, uint32_t thread);
/* What `thread` does in system calls and callbacks is not known any more. */
void thread_forget_calls(struct builder *builder, uint32_t thread);
/* From `since_ns` on, the activity of `thread` is not known. */
void thread_lose(struct builder *builder, uint32_t thread, uint64_t since_ns);

#endif
