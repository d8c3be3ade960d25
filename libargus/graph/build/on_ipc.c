/* Which threads used the semaphores and message queues of System V.
 *
 * These have no descriptors and no owner: who waits for one waits for whoever changes it, and the
 * kernel does not know in advance who that is. The threads that used it before are known from their
 * calls.
 */
#include "graph/build/on_ipc.h"

#include <stdlib.h>
#include <string.h>

#include "event/syscalls.h"
#include "graph/build/builder.h"

struct ipc_uses {
    struct idmap by_key;
};

struct ipc_uses *ipc_uses_create(void)
{
    return calloc(1, sizeof(struct ipc_uses));
}

void ipc_uses_destroy(struct ipc_uses *uses)
{
    if (!uses)
        return;
    idmap_deinit(&uses->by_key);
    free(uses);
}

/* What the calls do, and whether they return the number of the object or get it as first argument.
 * To add one: a row, and its name in syscalls_generate.py. */
static const struct call {
    const char *name;
    bool is_queue, returns_id;
    uint8_t how;
} calls[] = {
    {"semop", false, false, ARGUS_IPC_CHANGED}, {"semtimedop", false, false, ARGUS_IPC_CHANGED},
    {"msgsnd", true, false, ARGUS_IPC_CHANGED}, {"msgrcv", true, false, ARGUS_IPC_RECEIVED},
    {"semget", false, true, ARGUS_IPC_OPENED},  {"semctl", false, false, ARGUS_IPC_OPENED},
    {"msgget", true, true, ARGUS_IPC_OPENED},   {"msgctl", true, false, ARGUS_IPC_OPENED},
};

static const struct call *call_of(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (strcmp(name, calls[i].name) == 0)
            return &calls[i];
    return NULL;
}

/* The kernel's numbers have 31 bits, what is done takes 2, and one says of what kind it is. */
static uint64_t key_of(uint32_t id, uint32_t thread, const struct call *call)
{
    return (uint64_t)(id & INT32_MAX) << 33 | (uint64_t)(thread & ((1u << 30) - 1)) << 3 |
           (uint64_t)call->how << 1 | call->is_queue;
}

void ipc_note_call(struct builder *builder, uint32_t thread, const struct syscall_row *row,
                   uint64_t first_argument, uint64_t result)
{
    const struct call *call = call_of(row->name);
    if (!call)
        return;
    uint32_t id = (uint32_t)(call->returns_id ? result : first_argument);
    uint32_t at = builder_place(builder, &builder->graph->ipc_uses, &builder->ipc_uses->by_key,
                                key_of(id, thread, call));
    if (at == ARGUS_NONE)
        return;
    builder->graph->ipc_uses.data[at] = (struct argus_ipc_use){.last_ns = builder->now_ns,
                                                               .id = id,
                                                               .thread = thread,
                                                               .is_queue = call->is_queue,
                                                               .how = call->how};
}
