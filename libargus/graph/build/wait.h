/* Waits: from the moment when a thread leaves its cpu to the result of its system call: wait.c. */
#ifndef ARGUS_GRAPH_WAIT_H
#define ARGUS_GRAPH_WAIT_H

#include "event/syscalls.h"
#include "graph/build/actor.h"
#include "graph/build/wait_details.h"

struct builder;

void wait_begin(struct builder *builder, uint32_t thread, uint64_t os_state);
/* `cause` NULL: the thread was seen running without a recorded wake-up. */
void wait_end(struct builder *builder, uint32_t thread, uint64_t now_ns, const struct cause *cause);
/* The system call `number`, in which the thread waited, has returned. */
void wait_result(struct builder *builder, uint32_t thread, uint32_t number, int64_t result);
/* Same for Darwin (wait_darwin.c): what is waited for, by the arguments of the call; and how the
 * wait ended, by its result. */
uint64_t wait_darwin_object(const struct syscall_row *row, uint32_t number, const uint64_t arg[4]);
uint8_t wait_darwin_outcome(const struct argus_wait *wait, int64_t result);

#endif
