#include "linux/perf/perf_translate.h"

#include <linux/perf_event.h>
#include <string.h>

#include "argus/trace.h"

/* include/linux/trace_events.h, enum trace_flag_type: the same since Linux 2.6.27. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI     0x40

uint64_t translation_number(const struct translation *now, unsigned index)
{
    return event_field_number(&now->fields[index], now->sample->raw, now->sample->raw_bytes);
}

const char *translation_text(const struct translation *now, unsigned index, size_t *ret_length)
{
    return event_field_text(&now->fields[index], now->sample->raw, now->sample->raw_bytes,
                            ret_length);
}

uint32_t translation_context(const struct translation *now)
{
    if (now->flags & FLAG_NMI)
        return ARGUS_CONTEXT_NMI;
    if (now->flags & FLAG_HARDIRQ)
        return ARGUS_CONTEXT_HARDIRQ;
    return now->flags & FLAG_SOFTIRQ ? ARGUS_CONTEXT_SOFTIRQ : ARGUS_CONTEXT_TASK;
}

bool translation_is_own(const struct translation *now)
{
    return now->sample->pid == now->translator->own_pid;
}

static void emit_for(const struct translation *now, uint32_t tid, uint32_t debugid,
                     const uint64_t arguments[4])
{
    struct argus_record record = {
        .timestamp = now->sample->time_ns,
        .tid = tid,
        .debugid = debugid,
        .cpu = now->sample->cpu,
    };
    memcpy(record.arg, arguments, sizeof(record.arg));
    record_rings_push(now->translator->rings, &record);
}

void translation_emit(const struct translation *now, uint32_t debugid, uint64_t arg1, uint64_t arg2,
                      uint64_t arg3, uint64_t arg4)
{
    emit_for(now, now->tid, debugid, (const uint64_t[4]){arg1, arg2, arg3, arg4});
}

void translation_emit_name(const struct translation *now, uint32_t tid, uint32_t debugid,
                           const char *name, size_t length)
{
    uint64_t words[4] = {0};
    memcpy(words, name, length < sizeof(words) - 1 ? length : sizeof(words) - 1);
    emit_for(now, tid, debugid, words);
}

/* Following frame pointers through code without them ends at invalid addresses. */
static bool is_user_address(uint64_t frame)
{
    return frame >= 4096 && frame < 1ull << 56;
}

/* The frames after the marker `context`, up to the next marker. */
static uint64_t put_part(const struct translation *now, uint64_t context, bool *ret_is_there)
{
    const uint64_t *frames = now->sample->frames;
    size_t count = now->sample->frame_count, from = 0;
    while (from < count && frames[from] != context)
        from++;
    *ret_is_there = from < count;
    size_t end = ++from;
    while (end < count && frames[end] < (uint64_t)PERF_CONTEXT_MAX &&
           end - from < BPF_STACK_FRAMES &&
           (context != (uint64_t)PERF_CONTEXT_USER || is_user_address(frames[end])))
        end++;
    if (!*ret_is_there || end == from)
        return 0;
    uint64_t deep[BPF_STACK_FRAMES + 1];
    bool goes_on = end - from == BPF_STACK_FRAMES && end < count && is_user_address(frames[end]) &&
                   context == (uint64_t)PERF_CONTEXT_USER;
    if (goes_on) {
        memcpy(deep, frames + from, sizeof(deep) - sizeof(deep[0]));
        deep[BPF_STACK_FRAMES] = ARGUS_FRAME_DEEP;
    }
    uint64_t id = goes_on ? stack_table_put(now->translator->stacks, deep, BPF_STACK_FRAMES + 1)
                          : stack_table_put(now->translator->stacks, frames + from, end - from);
    now->translator->stacks_not_taken += id == 0;
    return id;
}

struct stack_ids translation_stacks(const struct translation *now)
{
    struct stack_ids ids = {0};
    bool has_kernel;
    ids.kernel = put_part(now, (uint64_t)PERF_CONTEXT_KERNEL, &has_kernel);
    ids.user = put_part(now, (uint64_t)PERF_CONTEXT_USER, &ids.is_user_thread);
    return ids;
}
