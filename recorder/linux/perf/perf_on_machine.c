/* Samples of perf_event about the kernel rather than threads: interrupts, timers, work queues,
 * disks, signals. */
#include "linux/perf/perf_handlers.h"

static void emit_number(const struct translation *now, uint32_t debugid)
{
    translation_emit(now, debugid, (uint32_t)translation_number(now, 0), 0, 0, 0);
}

void perf_on_irq_entry(const struct translation *now)
{
    emit_number(now, ARGUS_ID_INTERRUPT | ARGUS_FUNC_START);
}

void perf_on_irq_exit(const struct translation *now)
{
    emit_number(now, ARGUS_ID_INTERRUPT | ARGUS_FUNC_END);
}

void perf_on_softirq_entry(const struct translation *now)
{
    emit_number(now, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START);
}

void perf_on_softirq_exit(const struct translation *now)
{
    emit_number(now, ARGUS_ID_SOFTIRQ | ARGUS_FUNC_END);
}

/* The recorder's own CPU samples use a timer, which must not be recorded. It is recognized by its
 * function; the tracepoints of cancelled and finished timers do not have that. */
static bool is_own_timer(const struct translation *now, uint64_t function)
{
    struct translator *translator = now->translator;
    uint64_t timer = translation_number(now, 0);
    if (function == translator->own_timer_function && function != 0)
        idmap_put(&translator->own_timers, timer, 0);
    return idmap_get(&translator->own_timers, timer) != IDMAP_NONE;
}

void perf_on_timer_start(const struct translation *now)
{
    uint64_t function = translation_number(now, 1);
    if (!is_own_timer(now, function))
        translation_emit(now, ARGUS_ID_TIMER_ARMED, translation_number(now, 0), function,
                         translation_number(now, 2), (uint32_t)translation_number(now, 3));
}

void perf_on_timer_cancel(const struct translation *now)
{
    if (!is_own_timer(now, 0))
        translation_emit(now, ARGUS_ID_TIMER_CANCEL, translation_number(now, 0), 0, 0, 0);
}

void perf_on_timer_expire(const struct translation *now)
{
    uint64_t function = translation_number(now, 1);
    if (!is_own_timer(now, function))
        translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, translation_number(now, 0),
                         function, translation_number(now, 2), 0);
}

void perf_on_timer_expired(const struct translation *now)
{
    if (!is_own_timer(now, 0))
        translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, translation_number(now, 0), 0,
                         0, 0);
}

/* --- the timer wheel: see bpf/timer_wheel.h; the filters of the rows leave out its upkeep --- */

void perf_on_wheel_start(const struct translation *now)
{
    uint64_t ticks = translation_number(now, 2) - translation_number(now, 3);
    if (translation_is_own(now))
        return;
    translation_emit(now, ARGUS_ID_TIMER_ARMED, translation_number(now, 0),
                     translation_number(now, 1),
                     now->sample->time_ns + ticks * now->translator->tick_ns, ARGUS_TIMER_WHEEL);
}

void perf_on_wheel_cancel(const struct translation *now)
{
    if (!translation_is_own(now))
        translation_emit(now, ARGUS_ID_TIMER_CANCEL, translation_number(now, 0), 0, 0,
                         ARGUS_TIMER_WHEEL);
}

void perf_on_wheel_expire(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, translation_number(now, 0),
                     translation_number(now, 1), now->sample->time_ns, ARGUS_TIMER_WHEEL);
}

void perf_on_wheel_expired(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, translation_number(now, 0), 0, 0,
                     ARGUS_TIMER_WHEEL);
}

void perf_on_itimer_set(const struct translation *now)
{
    uint64_t value_ns = translation_number(now, 1) * 1000000000 + translation_number(now, 2);
    uint64_t interval_ns = translation_number(now, 3) * 1000000000 + translation_number(now, 4);
    if (!translation_is_own(now))
        translation_emit(now, ARGUS_ID_ITIMER_ARMED, (uint32_t)translation_number(now, 0), value_ns,
                         interval_ns, 0);
}

void perf_on_itimer_expire(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_ITIMER_FIRED, (uint32_t)translation_number(now, 0),
                     (uint32_t)translation_number(now, 1), 0, 0);
}

/* --- work queues and disks --- */

void perf_on_work_queued(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_WORK_QUEUED, translation_number(now, 0),
                     translation_number(now, 1), 0, translation_context(now));
}

void perf_on_work_start(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_WORK | ARGUS_FUNC_START, translation_number(now, 0),
                     translation_number(now, 1), 0, 0);
}

void perf_on_work_end(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_WORK | ARGUS_FUNC_END, translation_number(now, 0), 0, 0, 0);
}

/* The tracepoints do not identify the request, but a device never has two requests for one sector
 * at a time. A flush has no sector: 0 when issued, -1 when completed. */
static uint64_t request_id(uint64_t device, uint64_t sector)
{
    return (device + 1) << 40 ^ (sector == UINT64_MAX ? 0 : sector);
}

/* blk_fill_rwbs() in kernel/trace/blktrace.c: letters, of which the first is the operation; an F
 * before others is a preceding flush. */
static uint64_t operation_of(const char *letters, size_t length)
{
    if (length > 1 && letters[0] == 'F' && letters[1] != 'F')
        letters++;
    switch (length ? letters[0] : '\0') {
    case 'W':
        return 1;
    case 'F':
        return 2;
    case 'D':
        return 3;
    default:
        return 0;
    }
}

void perf_on_block_issue(const struct translation *now)
{
    uint64_t device = (uint32_t)translation_number(now, 0), sector = translation_number(now, 1);
    size_t length;
    const char *letters = translation_text(now, 3, &length);
    translation_emit(now, ARGUS_ID_BLOCK_ISSUED, request_id(device, sector), sector,
                     (uint32_t)translation_number(now, 2),
                     device | operation_of(letters, length) << 32);
}

void perf_on_block_complete(const struct translation *now)
{
    uint64_t device = (uint32_t)translation_number(now, 0), sector = translation_number(now, 1);
    translation_emit(now, ARGUS_ID_BLOCK_COMPLETED, request_id(device, sector),
                     translation_number(now, 3) != 0, (uint32_t)translation_number(now, 2) * 512,
                     0);
}

/* --- signals --- */

void perf_on_signal_generate(const struct translation *now)
{
    uint64_t to_process = translation_number(now, 2) != 0, code = translation_number(now, 1);
    translation_emit(now, ARGUS_ID_SIGNAL_SENT, (uint32_t)translation_number(now, 0),
                     (uint32_t)translation_number(now, 3) | to_process << 32,
                     (uint8_t)translation_number(now, 4) | code << 32, translation_context(now));
}

void perf_on_signal_deliver(const struct translation *now)
{
    translation_emit(now, ARGUS_ID_SIGNAL_DELIVERED, (uint32_t)translation_number(now, 0),
                     translation_number(now, 2), (uint32_t)translation_number(now, 1), 0);
}
