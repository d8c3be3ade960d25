/* Items of libdispatch, as its introspection build reports them: libdispatch-1542
 * src/introspection.c:740-931.
 *
 * A push names the continuation and the function or block; the pop comes just before it runs, and
 * `done` after it. Items nest (dispatch_sync). Since no record has a stack pointer, an artificial
 * one represents the depth.
 */
#include "event/darwin/darwin.h"

#define DEPTH_SP(items) (UINT64_MAX / 2 - 16 * (uint64_t)(items))
enum { DEEPEST = 1 << 20 };

void darwin_on_push(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0], record->arg[1], ARGUS_PROBE_LIBDISPATCH};
    darwin_emit(darwin, cpu, record, ARGUS_ID_CALLBACK_QUEUED, arg);
}

void darwin_on_pop(struct darwin *darwin, struct darwin_cpu *cpu, const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread || thread->items == DEEPEST)
        return;
    const uint64_t arg[4] = {record->arg[0], record->arg[1], ARGUS_PROBE_LIBDISPATCH,
                             DEPTH_SP(++thread->items)};
    darwin_emit(darwin, cpu, record, ARGUS_ID_CALLBACK | ARGUS_FUNC_START, arg);
}

void darwin_on_item_done(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread || !thread->items)
        return;
    /* 0 would mean an iteration of a loop */
    const uint64_t key = record->arg[0] ? record->arg[0] : 1;
    const uint64_t arg[4] = {key, 0, ARGUS_PROBE_LIBDISPATCH, DEPTH_SP(thread->items--)};
    darwin_emit(darwin, cpu, record, ARGUS_ID_CALLBACK | ARGUS_FUNC_END, arg);
}
