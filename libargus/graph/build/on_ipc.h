/* Which threads used the semaphores and message queues of System V: on_ipc.c. */
#ifndef ARGUS_GRAPH_ON_IPC_H
#define ARGUS_GRAPH_ON_IPC_H

#include <stdint.h>

struct builder;
struct syscall_row;

/* The state of this feature: where in the graph the uses are. */
struct ipc_uses *ipc_uses_create(void);
void ipc_uses_destroy(struct ipc_uses *uses);

/* `thread` comes back from a call of `row` that succeeded. */
void ipc_note_call(struct builder *builder, uint32_t thread, const struct syscall_row *row,
                   uint64_t first_argument, uint64_t result);

#endif
