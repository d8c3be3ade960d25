/* What a thread does: activity.c. */
#ifndef ARGUS_GRAPH_ACTIVITY_H
#define ARGUS_GRAPH_ACTIVITY_H

#include "graph/build/actor.h"

struct builder;
struct cpu_state;

/* Adds what `thread` ran until now to its vertex, unless an interrupt has its cpu. */
void thread_account(struct builder *builder, uint32_t thread, uint64_t now_ns);
/* `thread` comes on `cpu`; `seen`: a switch record says so, otherwise it is only found there. */
void thread_run(struct builder *builder, uint32_t thread, struct cpu_state *cpu, bool seen);
void thread_preempt(struct builder *builder, uint32_t thread);
void thread_block(struct builder *builder, uint32_t thread, uint64_t os_state);
/* It is not in a system call in which it may send or receive any more, or sleeps in it. */
void thread_rests(struct builder *builder, uint32_t thread);
/* It was made runnable; `cause` may say by whom. */
void thread_wake(struct builder *builder, uint32_t thread, const struct cause *cause);
void thread_gone(struct builder *builder, uint32_t thread);
/* Its wait in a system call that never returned was ended by its death. */
void thread_killed(struct builder *builder, uint32_t thread);
/* What it does since `since_ns` is not known. */
void thread_lose(struct builder *builder, uint32_t thread, uint64_t since_ns);

#endif
