#include "server/hang_starts.h"

#include <string.h>

#define DOUBT_START 2              /* struct reply_hang; other doubts have odd numbers */
#define YOUNG_NS    60000000000ull /* a program without a window until then is not a windowed one */
/* From the end to the report: the analysis knows the loop's own wait only after some turns. */
#define SETTLING_NS 3000000000ull
/* A loop that goes on for so long has been reached, though it never rests. */
#define TURNING_NS 3000000000ull
/* The longest time between two looks that find a new turn of such a loop. */
#define PAUSE_NS (2 * HANG_RESTING_NS)

void hang_starts_deinit(struct hang_starts *starts)
{
    vec_deinit(&starts->list);
}

static struct hang_start *find(struct hang_starts *starts, uint32_t pid)
{
    for (size_t i = 0; i < starts->list.length; i++)
        if (starts->list.data[i].pid == pid)
            return &starts->list.data[i];
    return NULL;
}

/* NULL without memory, or if the process has ended. */
static struct hang_start *add(struct hang_starts *starts, const struct hang_system *system,
                              uint32_t pid)
{
    struct hang_sight sight;
    if (!system->look(pid, pid, &sight))
        return NULL;
    struct hang_start new = {
        .pid = pid, .started_ns = sight.started_ns, .done = sight.started_ns <= starts->began_ns};
    return vec_push(&starts->list, new) ? &starts->list.data[starts->list.length - 1] : NULL;
}

bool hang_may_take_input(const struct hang_system *system, const struct backend_poller *poller)
{
    const struct poll_set *set = poller->polling ? &poller->loop_set : &poller->handler_set;
    return (poller->polling || poller->polling_in_handler) &&
           (!poll_set_is_listed(set) || system->has_display(set, poller->pid) ||
            system->has_terminal(set, poller->pid));
}

bool hang_any_may_take_input(const struct hang_system *system, const struct backend_poller *pollers,
                             size_t count, uint32_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (pollers[i].pid == pid && hang_may_take_input(system, &pollers[i]))
            return true;
    return false;
}

void hang_starts_skip(struct hang_starts *starts, uint32_t pid)
{
    struct hang_start *start = find(starts, pid);
    if (start)
        start->done = true;
}

/* What one look at a start works with. */
struct start_look {
    const struct hang_start_wish *wish;
    const struct hang_system *system;
    const struct backend_poller *pollers;
    size_t count;
    uint64_t now_ns;
};

/* Whether the main thread now rests in its loop, in which the program takes input. */
static bool rests(const struct start_look *look, const struct backend_poller *poller)
{
    return poller->polling && poller->seen_ns && look->now_ns > poller->seen_ns + HANG_RESTING_NS &&
           hang_any_may_take_input(look->system, look->pollers, look->count, poller->pid);
}

/* The same for a loop that never rests, because it draws an animation or has a quick timer: whether
 * it has turned for a while, and takes input. */
static bool turns(struct hang_start *start, const struct start_look *look,
                  const struct backend_poller *poller)
{
    if (poller->returns > start->returns)
        start->turned_ns = look->now_ns;
    start->returns = poller->returns;
    if (!start->turned_ns || look->now_ns > start->turned_ns + PAUSE_NS) {
        start->turning_ns = 0;
        start->took_input = false;
        return false;
    }
    start->turning_ns = start->turning_ns ? start->turning_ns : look->now_ns;
    start->took_input |=
        hang_any_may_take_input(look->system, look->pollers, look->count, poller->pid);
    return start->took_input && look->now_ns >= start->turning_ns + TURNING_NS;
}

/* When the start was over; 0: it goes on. A program that opens its window late may never rest. */
static uint64_t over_ns(const struct hang_start *start, const struct start_look *look)
{
    bool late_window = start->window_ns >= start->started_ns + look->wish->threshold_ns;
    return start->window_ns && late_window ? start->window_ns : start->rested_ns;
}

/* Whether a start without an end has lasted too long. */
static bool lasts_long(const struct hang_start *start, const struct start_look *look)
{
    return start->window_ns &&
           look->now_ns > start->started_ns + look->wish->threshold_ns + HANG_REPORT_AFTER_NS;
}

static bool report(const struct hang_start *start, const struct start_look *look, hang_reports *ret)
{
    struct hang_sight sight;
    uint64_t end_ns = over_ns(start, look), until_ns = end_ns ? end_ns : look->now_ns;
    uint64_t ns = until_ns > start->started_ns ? until_ns - start->started_ns : 0;
    if (ns < look->wish->threshold_ns + start->ran_ns ||
        !look->system->look(start->pid, start->pid, &sight) ||
        (look->wish->name[0] && strcmp(look->wish->name, sight.process) != 0))
        return true;
    struct reply_hang hang = {.pid = start->pid,
                              .tid = start->pid,
                              .start_ns = start->started_ns,
                              .duration_ns = ns,
                              .ended = end_ns != 0,
                              .doubt = DOUBT_START};
    memcpy(hang.process, sight.process, sizeof(hang.process));
    return vec_push(ret, hang);
}

/* Keeps the cpu time at the end of the start: a program that computes does not wait. */
static void measure(struct hang_start *start, const struct start_look *look)
{
    struct hang_sight sight;
    if (look->system->look(start->pid, start->pid, &sight))
        start->ran_ns = sight.ran_ns;
}

static bool look_at(struct hang_start *start, const struct start_look *look,
                    const struct backend_poller *poller, hang_reports *ret)
{
    bool was_over = over_ns(start, look) != 0;
    if (!start->window_ns && look->system->has_window(start->pid))
        start->window_ns = look->now_ns;
    if (start->window_ns && !start->rested_ns && rests(look, poller))
        start->rested_ns = poller->seen_ns;
    if (start->window_ns && !start->rested_ns && turns(start, look, poller))
        start->rested_ns = start->turning_ns;
    uint64_t end_ns = over_ns(start, look);
    bool is_long = !end_ns && lasts_long(start, look);
    if (is_long || (end_ns && !was_over))
        measure(start, look);
    start->done = end_ns ? look->now_ns >= end_ns + SETTLING_NS
                         : is_long || look->now_ns >= start->started_ns + YOUNG_NS;
    return !start->done || !start->window_ns || report(start, look, ret);
}

static void forget_ended(struct hang_starts *starts)
{
    size_t kept = 0;
    for (size_t i = 0; i < starts->list.length; i++) {
        if (starts->list.data[i].seen)
            starts->list.data[kept++] = starts->list.data[i];
    }
    starts->list.length = kept;
    for (size_t i = 0; i < kept; i++)
        starts->list.data[i].seen = false;
}

bool hang_starts_look(struct hang_starts *starts, const struct hang_start_wish *wish,
                      const struct hang_system *system, const struct backend_poller *pollers,
                      size_t count, uint64_t now_ns, hang_reports *ret)
{
    const struct start_look look = {wish, system, pollers, count, now_ns};
    bool good = true;
    starts->began_ns = starts->began_ns ? starts->began_ns : now_ns;
    for (size_t i = 0; i < count; i++) {
        uint32_t pid = pollers[i].pid;
        if (pollers[i].tid != pid || pid == wish->left_out ||
            pollers[i].first_ns <= starts->began_ns)
            continue;
        struct hang_start *start = find(starts, pid);
        start = start ? start : add(starts, system, pid);
        if (!start)
            continue;
        start->seen = true;
        good &= start->done || look_at(start, &look, &pollers[i], ret);
    }
    forget_ended(starts);
    return good;
}
