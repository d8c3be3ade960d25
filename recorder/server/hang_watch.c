#include "server/hang_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "server/proc_stat.h"
#include "server/windows.h"

/* Another recorder is left out unless the user names it: its snapshots take long, and that is no
 * hang. */
#define OWN_RECORDER "argus-recorder"

/* A thread that has returned from its poll this often counts as an event loop. */
#define LOOP_RETURNS 3
#define SURE_RETURNS 20 /* the same, if nothing shows that its work is waited for */
#define SERVING      3  /* this many polls in a handler that found something are a nested loop */
/* If this process did not run for this long, perhaps no process did. */
#define LATE_LOOK_NS 1000000000ull
#define RESTING_NS   250000000ull /* a longer wait in a poll is no wait for a reply */

/* A thread that has been away for a while, or a hang. */
struct away {
    uint32_t tid, pid;
    uint64_t since_ns;            /* when it came back from its last poll */
    uint64_t excused_ns;          /* how much of the time since then is excused */
    bool is_hang, reported, seen; /* seen: found by the current look */
    bool looked_at, was_excused;  /* was_excused: as of the last look */
    bool has_window;              /* as found at the first look */
    char process[PROTOCOL_COMM_BYTES];
};

struct hang_watch {
    uint64_t threshold_ns;
    char name[PROTOCOL_COMM_BYTES];
    const struct hang_system *system;
    VEC(struct away) away;
    VEC(struct reply_hang) reports;
    size_t next_report;
    uint64_t looked_ns; /* the last look; 0: none yet */
    uint32_t left_out;  /* a process to ignore; 0: none */
    uint32_t seen;
};

struct hang_watch *hang_watch_create(uint64_t threshold_ns, const char *name,
                                     const struct hang_system *system)
{
    struct hang_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->threshold_ns = threshold_ns;
    watch->system = system;
    snprintf(watch->name, sizeof(watch->name), "%s", name);
    return watch;
}

void hang_watch_destroy(struct hang_watch *watch)
{
    if (!watch)
        return;
    vec_deinit(&watch->away);
    vec_deinit(&watch->reports);
    free(watch);
}

static bool report(struct hang_watch *watch, struct away *away, uint64_t until_ns, bool ended)
{
    struct reply_hang hang = {
        .pid = away->pid,
        .tid = away->tid,
        .start_ns = away->since_ns,
        .duration_ns = until_ns - away->since_ns,
        .ended = ended,
    };
    memcpy(hang.process, away->process, sizeof(hang.process));
    away->reported = true;
    return vec_push(&watch->reports, hang);
}

/* Since when a thread is away from its loop, if it is. */
static uint64_t away_since(const struct backend_poller *poller)
{
    return poller->polling ? poller->seen_ns : poller->returned_ns;
}

static struct away *find(struct hang_watch *watch, const struct backend_poller *poller)
{
    for (size_t i = 0; i < watch->away.length; i++) {
        struct away *away = &watch->away.data[i];
        if (away->tid == poller->tid && away->since_ns == away_since(poller))
            return away;
    }
    return NULL;
}

static bool process_hangs(const struct hang_watch *watch, uint32_t pid)
{
    for (size_t i = 0; i < watch->away.length; i++) {
        if (watch->away.data[i].is_hang && watch->away.data[i].pid == pid)
            return true;
    }
    return false;
}

/* Whether the thread waits for a reply: all its polls in the handler found something, and its peer
 * has not read what it sent. */
static bool is_unanswered(const struct hang_watch *watch, const struct backend_poller *poller)
{
    return poller->inner <= poller->served + 1 &&
           watch->system->is_untaken(&poller->handler_set, poller->pid);
}

/* Whether a thread is outside every poll and has been for a while: then it is also away from a
 * nested loop. */
static bool polls_no_more(const struct backend_poller *poller, uint64_t now_ns)
{
    return !poller->polling_in_handler && poller->seen_ns && now_ns > poller->seen_ns + RESTING_NS;
}

/* Whether a handler repeatedly polls for the end of a child: then it waits for a command, whatever
 * it polls in between. */
static bool asks_for_child(const struct backend_poller *poller, uint64_t now_ns)
{
    return poller->asked_ns && now_ns < poller->asked_ns + RESTING_NS;
}

/* Whether the descriptors of the set are known. */
static bool is_listed(const struct poll_set *set)
{
    return set->kind == POLL_SET_ARRAY || set->kind == POLL_SET_BITS;
}

/* Whether a poll cannot take input, while a process to which this one has sent something reads
 * nothing. */
static bool is_deaf(const struct hang_watch *watch, const struct poll_set *set, uint32_t pid)
{
    return is_listed(set) && !watch->system->has_display(set, pid) &&
           watch->system->has_untaken(pid);
}

/* Whether the thread waits in a poll that may take input from a display server. */
static bool may_take_input(const struct hang_watch *watch, const struct backend_poller *poller)
{
    const struct poll_set *set = poller->polling ? &poller->loop_set : &poller->handler_set;
    return (poller->polling || poller->polling_in_handler) &&
           (!is_listed(set) || watch->system->has_display(set, poller->pid));
}

/* Whether a main thread with windows waits in a poll before it has reached its loop. In some
 * programs another thread reads from the display server. */
static bool waits_at_start(const struct hang_watch *watch, const struct backend_poller *pollers,
                           size_t count, const struct backend_poller *poller)
{
    if (!poller->polling || poller->tid != poller->pid || !poller->seen_ns ||
        poller->rested_ns >= RESTING_NS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (pollers[i].pid == poller->pid && may_take_input(watch, &pollers[i]))
            return false;
    return watch->system->has_window(poller->pid);
}

/* Whether a thread that has polled inside a handler may be working normally. */
static bool may_serve(const struct hang_watch *watch, const struct backend_poller *poller,
                      const struct away *away, uint64_t now_ns)
{
    if (!poller->inner || polls_no_more(poller, now_ns) || asks_for_child(poller, now_ns))
        return false;
    if (poller->polling_in_handler && poll_set_covers(&poller->handler_set, &poller->loop_set))
        return !is_unanswered(watch, poller);
    if (poller->polling_in_handler && watch->system->has_display(&poller->loop_set, poller->pid) &&
        is_deaf(watch, &poller->handler_set, poller->pid))
        return false;
    if (watch->system->is_ready(&poller->loop_set, poller->pid))
        return false;
    bool sure = poller->tid == poller->pid && poller->returns >= SURE_RETURNS;
    return !sure || poller->served >= SERVING || !away->has_window;
}

/* Whether a thread's absence affects nobody: it has no window, or it waits while another thread
 * polls for it, and its loop has no pending input. */
static bool is_unawaited(const struct hang_watch *watch, const struct backend_poller *poller,
                         const struct away *away, const struct hang_sight *sight)
{
    bool rests = sight->at_futex && poller->rested_ns < RESTING_NS;
    bool unseen = !away->has_window && !watch->name[0];
    return (sight->at_child || rests || unseen) &&
           !watch->system->is_ready(&poller->loop_set, poller->pid);
}

/* Excuses the time since the last look if there is a reason, and decides. If only one of two looks
 * found a reason, the time between them is excused as well, and so is all time before the first
 * look: a late report is better than a false one. */
static bool judge(struct hang_watch *watch, struct away *away, const struct backend_poller *poller,
                  uint64_t now_ns)
{
    struct hang_sight sight = {.excused = false};
    if (away->is_hang) {
        bool lasts_long =
            now_ns - away->since_ns - away->excused_ns > watch->threshold_ns + HANG_REPORT_AFTER_NS;
        return away->reported || !lasts_long || report(watch, away, now_ns, false);
    }
    uint64_t looked_ns = watch->looked_ns > away->since_ns ? watch->looked_ns : away->since_ns;
    bool there = watch->system->look(away->pid, away->tid, &sight);
    if (!away->looked_at)
        away->has_window = watch->system->has_window(away->pid);
    bool excused = sight.excused || (there && (may_serve(watch, poller, away, now_ns) ||
                                               is_unawaited(watch, poller, away, &sight)));
    if (there)
        memcpy(away->process, sight.process, sizeof(away->process));
    if (excused && !away->looked_at)
        away->excused_ns = now_ns - away->since_ns;
    else if (!there || excused || away->was_excused || now_ns - looked_ns > LATE_LOOK_NS)
        away->excused_ns += now_ns - looked_ns;
    away->looked_at = true;
    away->was_excused = excused;
    bool wanted = strcmp(watch->name[0] ? watch->name : away->process, away->process) == 0 &&
                  (watch->name[0] || strcmp(away->process, OWN_RECORDER) != 0);
    if (there && wanted && now_ns - away->since_ns - away->excused_ns >= watch->threshold_ns &&
        !process_hangs(watch, away->pid)) {
        away->is_hang = true;
        watch->seen++;
    }
    return true;
}

/* Only threads that have been away for a quarter of the limit are examined more closely. */
static bool look_at(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                    const struct backend_poller *poller, uint64_t now_ns)
{
    uint64_t since_ns = away_since(poller);
    if (poller->pid == watch->left_out || poller->returns < LOOP_RETURNS || since_ns > now_ns ||
        now_ns - since_ns < watch->threshold_ns / 4 ||
        (poller->polling && !waits_at_start(watch, pollers, count, poller)))
        return true;
    struct away *away = find(watch, poller);
    if (!away) {
        struct away new = {.tid = poller->tid, .pid = poller->pid, .since_ns = since_ns};
        if (!vec_push(&watch->away, new))
            return false;
        away = &watch->away.data[watch->away.length - 1];
    }
    away->seen = true;
    return judge(watch, away, poller, now_ns);
}

void hang_watch_leave_out(struct hang_watch *watch, uint32_t pid)
{
    watch->left_out = pid;
}

/* Removes threads that have returned to their poll or have ended. */
static bool drop_back(struct hang_watch *watch, uint64_t now_ns)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < watch->away.length; i++) {
        struct away *away = &watch->away.data[i];
        if (away->seen) {
            watch->away.data[kept] = *away;
            watch->away.data[kept++].seen = false;
        } else if (away->is_hang && !away->reported) {
            good &= report(watch, away, now_ns, true);
        }
    }
    watch->away.length = kept;
    return good;
}

bool hang_watch_look(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                     uint64_t now_ns)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= look_at(watch, pollers, count, &pollers[i], now_ns);
    good &= drop_back(watch, now_ns);
    watch->looked_ns = now_ns;
    return good;
}

bool hang_watch_next(struct hang_watch *watch, struct reply_hang *ret)
{
    if (watch->next_report == watch->reports.length)
        return false;
    *ret = watch->reports.data[watch->next_report++];
    if (watch->next_report == watch->reports.length)
        watch->next_report = watch->reports.length = 0;
    return true;
}

uint32_t hang_watch_waiting(const struct hang_watch *watch)
{
    uint32_t waiting = (uint32_t)(watch->reports.length - watch->next_report);
    for (size_t i = 0; i < watch->away.length; i++)
        waiting += watch->away.data[i].is_hang && !watch->away.data[i].reported;
    return waiting;
}

uint32_t hang_watch_seen(const struct hang_watch *watch)
{
    return watch->seen;
}

/* --- the system --- */

/* Whether this is a shell that runs a command: it has given the terminal to a child. */
static bool gave_terminal(uint32_t pid, const struct proc_stat *process)
{
    struct proc_stat front;
    uint32_t group = process->terminal_group > 0 ? (uint32_t)process->terminal_group : 0;
    return group && process->terminal_group != process->group &&
           proc_stat_read(group, group, &front) && front.parent == (int)pid;
}

static bool look_in_proc(uint32_t pid, uint32_t tid, struct hang_sight *ret)
{
    struct proc_stat thread, process;
    if (!proc_stat_read(pid, tid, &thread) || !proc_stat_read(pid, pid, &process))
        return false;
    *ret = (struct hang_sight){.excused = thread.state == 'T' || thread.state == 't' ||
                                          gave_terminal(pid, &process)};
    memcpy(ret->process, process.name, sizeof(process.name));
    enum proc_wait wait = proc_wait_read(pid, tid);
    ret->at_child = wait == PROC_WAIT_CHILD;
    ret->at_futex = wait == PROC_WAIT_FUTEX;
    return true;
}

const struct hang_system hang_system_proc = {
    .look = look_in_proc,
    .is_ready = poll_set_is_ready,
    .is_untaken = poll_set_is_untaken,
    .has_window = process_has_window,
    .has_display = poll_set_has_display,
    .has_untaken = process_has_untaken,
};
