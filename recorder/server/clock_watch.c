#include "server/clock_watch.h"

#include "server/clocks.h"

/* Smaller changes are no step yet: reading two clocks one after the other takes time, and an
 * adjusted clock drifts. Small steps add up. */
#define SMALLEST_STEP_NS 5000000
#define MOST_MARKERS     1000

/* If the thread was interrupted between the clocks, they are read again. */
struct clock_readings clock_read(void)
{
    struct clock_readings now = {0};
    for (int tries = 0; tries < 5; tries++) {
        now.trace_ns = clock_ns(TRACE_CLOCK);
        now.boot_ns = clock_ns(BOOT_CLOCK);
        now.wall_ns = clock_ns(CLOCK_REALTIME);
        if (clock_ns(TRACE_CLOCK) - now.trace_ns < 100000)
            break;
    }
    return now;
}

void clock_watch_init(struct clock_watch *watch, const struct clock_readings *now)
{
    *watch = (struct clock_watch){.boot_offset_ns = now->boot_ns - now->trace_ns,
                                  .wall_offset_ns = now->wall_ns - now->trace_ns};
}

void clock_watch_deinit(struct clock_watch *watch)
{
    vec_deinit(&watch->markers);
}

/* Whether the offset has changed by more than noise. If so, stores the new offset. */
static bool has_stepped(uint64_t *offset_ns, uint64_t now_ns, int64_t *ret_step_ns)
{
    *ret_step_ns = (int64_t)(now_ns - *offset_ns);
    if (*ret_step_ns<SMALLEST_STEP_NS && * ret_step_ns> - SMALLEST_STEP_NS)
        return false;
    *offset_ns = now_ns;
    return true;
}

/* Without memory, or after very many steps, the step is not recorded. */
static size_t add(struct clock_watch *watch, uint32_t debugid, uint64_t trace_ns, int64_t step_ns)
{
    struct argus_record marker = {
        .timestamp = trace_ns, .arg = {(uint64_t)step_ns, trace_ns}, .debugid = debugid};
    return watch->markers.length < MOST_MARKERS && vec_push(&watch->markers, marker);
}

size_t clock_watch_look(struct clock_watch *watch, const struct clock_readings *now)
{
    size_t added = 0;
    int64_t step_ns;
    if (has_stepped(&watch->boot_offset_ns, now->boot_ns - now->trace_ns, &step_ns))
        added += add(watch, ARGUS_ID_SUSPENDED, now->trace_ns, step_ns);
    if (has_stepped(&watch->wall_offset_ns, now->wall_ns - now->trace_ns, &step_ns))
        added += add(watch, ARGUS_ID_CLOCK_STEP, now->trace_ns, step_ns);
    return added;
}
