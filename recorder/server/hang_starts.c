#include "server/hang_starts.h"

#include <string.h>

#define DOUBT_START 2              /* struct reply_hang; other doubts have odd numbers */
#define YOUNG_NS    60000000000ull /* a program without a window until then is not a windowed one */
/* From the window to the report: the analysis knows the loop's own wait only after some turns. */
#define SETTLING_NS 3000000000ull

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

static bool report(const struct hang_start *start, const struct hang_start_wish *wish,
                   const struct hang_system *system, hang_reports *ret)
{
    struct hang_sight sight;
    if (start->window_ns < start->started_ns + wish->threshold_ns ||
        !system->look(start->pid, start->pid, &sight) ||
        (wish->name[0] && strcmp(wish->name, sight.process) != 0))
        return true;
    struct reply_hang hang = {.pid = start->pid,
                              .tid = start->pid,
                              .start_ns = start->started_ns,
                              .duration_ns = start->window_ns - start->started_ns,
                              .ended = 1,
                              .doubt = DOUBT_START};
    memcpy(hang.process, sight.process, sizeof(hang.process));
    return vec_push(ret, hang);
}

static bool look_at(struct hang_start *start, const struct hang_start_wish *wish,
                    const struct hang_system *system, uint64_t now_ns, hang_reports *ret)
{
    if (!start->window_ns && system->has_window(start->pid))
        start->window_ns = now_ns;
    start->done = start->window_ns ? now_ns >= start->window_ns + SETTLING_NS
                                   : now_ns >= start->started_ns + YOUNG_NS;
    return !start->done || !start->window_ns || report(start, wish, system, ret);
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
        good &= start->done || look_at(start, wish, system, now_ns, ret);
    }
    forget_ended(starts);
    return good;
}
