#include "server/hang_watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "server/hang_places.h"
#include "server/hang_starts.h"

/* Another recorder is left out unless the user names it: its snapshots take long, and that is no
 * hang. */
#define OWN_RECORDER "argus-recorder"

/* A thread that has returned from its poll this often counts as an event loop. */
#define LOOP_RETURNS 3
#define SURE_RETURNS 20 /* the same, if nothing shows that its work is waited for */
#define SERVING      3  /* this many polls in a handler that found something are a nested loop */
/* If this process did not run for this long, perhaps no process did. */
#define LATE_LOOK_NS 1000000000ull

/* A loop that is back for so long only has not recovered: the hang goes on. */
#define MOMENT_NS 300000000ull

/* The least time between two questions whether clients of the display server have unread data,
 * while they have none. */
#define ASK_AGAIN_NS 1000000000ull
/* So long after a thread has left its usual place, it is asked at each look: what it waits for
 * there is mostly asked for at once. */
#define JUST_LEFT_NS 2000000000ull

/* Time that does not count, and whether there was a reason for that at the last look. */
struct excuse {
    uint64_t ns;
    bool was;
};

/* A thread that has been away for a while, or a hang. */
struct away {
    uint32_t tid, pid;
    uint64_t since_ns;       /* when it came back from its last poll; or see `unread` */
    uint64_t turn_ns;        /* the same; since_ns of a hang is that of its first turn */
    uint64_t seen_ns;        /* the last look that found it away */
    uint64_t back_ns;        /* the first look that found it back; 0: it is away */
    struct excuse excuse;    /* for whatever reason … */
    struct excuse unawaited; /* … and for those that leave no doubt */
    uint64_t doubt;          /* struct reply_hang */
    bool is_hang, may_hang;  /* may_hang: only the analysis can tell whether it hangs */
    bool reported, doubt_reported, seen; /* seen: found by the current look */
    bool looked_at;
    bool has_window; /* as found at the first look … */
    bool helps;      /* … it has none, and works for another process's */
    bool starves;    /* at the last look it was in its loop's poll, woken, and got no cpu */
    /* 0, or it waits in another place than usually: which one (struct backend_poller). Then turn_ns
     * is when it came back from the usual one. */
    uint64_t elsewhere;
    uint64_t asked_ns; /* when its display server was last asked for unread data; 0: never … */
    bool unread;       /* … which it had, in every answer since since_ns */
    char process[PROTOCOL_COMM_BYTES];
};

struct hang_watch {
    uint64_t threshold_ns;
    char name[PROTOCOL_COMM_BYTES];
    const struct hang_system *system;
    VEC(struct away) away;
    hang_reports reports;
    struct hang_starts starts;
    struct hang_places places;
    size_t next_report;
    uint64_t looked_ns; /* the last look; 0: none yet */
    uint32_t left_out;  /* a process to ignore; 0: none */
    /* Numbers that another thread may ask for (hang_thread.h): */
    _Atomic uint32_t seen, doubts, waiting;
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
    hang_starts_deinit(&watch->starts);
    hang_places_deinit(&watch->places);
    free(watch);
}

static bool report(struct hang_watch *watch, struct away *away, uint64_t until_ns, bool ended)
{
    bool is_doubt = !away->is_hang;
    struct reply_hang hang = {
        .pid = away->pid,
        .tid = away->tid,
        .start_ns = away->since_ns,
        .duration_ns = until_ns - away->since_ns,
        .ended = ended,
        .doubt = is_doubt ? away->doubt : 0,
    };
    memcpy(hang.process, away->process, sizeof(hang.process));
    *(is_doubt ? &away->doubt_reported : &away->reported) = true;
    watch->doubts += is_doubt;
    if (away->tid == away->pid && !is_doubt)
        hang_starts_skip(&watch->starts, away->pid);
    return vec_push(&watch->reports, hang);
}

/* Since when a thread is away from its loop, if it is. */
static uint64_t away_since(const struct backend_poller *poller)
{
    return poller->polling ? poller->seen_ns : poller->returned_ns;
}

/* Whether something has woken a thread in its loop's poll, and it has got no cpu for a while, so
 * that it is not back yet. */
static bool starves(const struct hang_watch *watch, const struct backend_poller *poller,
                    uint64_t now_ns)
{
    struct hang_sight sight;
    return poller->polling && poller->woken_ns > poller->seen_ns &&
           now_ns >= poller->woken_ns + watch->threshold_ns / 4 &&
           watch->system->look(poller->pid, poller->tid, &sight) && sight.wants_cpu;
}

/* A hang goes on if its thread was back for a moment only. */
static struct away *find(struct hang_watch *watch, const struct backend_poller *poller,
                         uint64_t since_ns)
{
    for (size_t i = 0; i < watch->away.length; i++) {
        struct away *away = &watch->away.data[i];
        if (away->tid != poller->tid || away->elsewhere)
            continue;
        if (away->back_ns && since_ns <= away->seen_ns + MOMENT_NS) {
            away->turn_ns = since_ns;
            away->back_ns = 0;
        }
        if (!away->back_ns && away->turn_ns == since_ns)
            return away;
    }
    return NULL;
}

/* The same for a thread that waits elsewhere. A doubt is over once the data was read. */
static struct away *find_elsewhere(struct hang_watch *watch, const struct backend_poller *poller,
                                   uint64_t now_ns)
{
    for (size_t i = 0; i < watch->away.length; i++) {
        struct away *away = &watch->away.data[i];
        bool is_over = away->may_hang && !away->unread;
        if (!away->elsewhere || away->tid != poller->tid || away->turn_ns != poller->usual_ns ||
            is_over || (away->back_ns && now_ns > away->back_ns + MOMENT_NS))
            continue;
        away->back_ns = 0;
        return away;
    }
    return NULL;
}

/* A worker's wait may be no hang after all, so it does not hide the main thread's. */
static bool process_hangs(const struct hang_watch *watch, const struct away *away)
{
    bool is_main = away->tid == away->pid;
    for (size_t i = 0; i < watch->away.length; i++) {
        const struct away *other = &watch->away.data[i];
        if (other->is_hang && other->pid == away->pid && (!is_main || other->tid == away->pid))
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
    return !poller->polling_in_handler && poller->seen_ns &&
           now_ns > poller->seen_ns + HANG_RESTING_NS;
}

/* Whether a handler repeatedly polls for the end of a child: then it waits for a command, whatever
 * it polls in between. */
static bool asks_for_child(const struct backend_poller *poller, uint64_t now_ns)
{
    return poller->asked_ns && now_ns < poller->asked_ns + HANG_RESTING_NS;
}

/* Whether a poll cannot take input, while a process to which this one has sent something reads
 * nothing. */
static bool is_deaf(const struct hang_watch *watch, const struct poll_set *set, uint32_t pid)
{
    return poll_set_is_listed(set) && !watch->system->has_display(set, pid) &&
           watch->system->has_untaken(pid);
}

/* Whether a main thread with windows waits in a poll before it has reached its loop. In some
 * programs another thread reads from the display server. */
static bool waits_at_start(const struct hang_watch *watch, const struct backend_poller *pollers,
                           size_t count, const struct backend_poller *poller)
{
    if (!poller->polling || poller->tid != poller->pid || !poller->seen_ns ||
        poller->rested_ns >= HANG_RESTING_NS)
        return false;
    return !hang_any_may_take_input(watch->system, pollers, count, poller->pid) &&
           watch->system->has_window(poller->pid);
}

/* Whether a handler's poll takes all that the loop's does, or the keys that are typed, or the input
 * from a display that the loop's does not take: then that is hardly the loop's. */
static bool takes_input(const struct hang_watch *watch, const struct backend_poller *poller)
{
    const struct hang_system *system = watch->system;
    const struct poll_set *inner = &poller->handler_set, *loop = &poller->loop_set;
    if (!poller->polling_in_handler)
        return false;
    if (poll_set_covers(inner, loop) || system->has_terminal(inner, poller->pid))
        return true;
    return poll_set_is_listed(loop) && !system->has_display(loop, poller->pid) &&
           system->has_display(inner, poller->pid);
}

/* Whether a handler's poll has found input several times, and takes it from a display by a
 * connection that is not the loop's: then it is the dialog of another toolkit. */
static bool has_own_display(const struct hang_watch *watch, const struct backend_poller *poller)
{
    struct poll_set own = poll_set_without(&poller->handler_set, &poller->loop_set);
    return poller->polling_in_handler && poller->served >= SERVING && own.count &&
           watch->system->has_display(&own, poller->pid);
}

/* Whether a thread that has polled inside a handler may be working normally. */
static bool may_serve(const struct hang_watch *watch, const struct backend_poller *poller,
                      const struct away *away, uint64_t now_ns)
{
    if (!poller->inner || polls_no_more(poller, now_ns) || asks_for_child(poller, now_ns))
        return false;
    if (takes_input(watch, poller))
        return !is_unanswered(watch, poller);
    if (poller->polling_in_handler && watch->system->has_display(&poller->loop_set, poller->pid) &&
        is_deaf(watch, &poller->handler_set, poller->pid))
        return false;
    if (watch->system->is_ready(&poller->loop_set, poller->pid) && !has_own_display(watch, poller))
        return false;
    bool sure = poller->tid == poller->pid && poller->returns >= SURE_RETURNS;
    return !sure || poller->served >= SERVING || !away->has_window;
}

/* Whether a thread's absence affects nobody: it has no window and nobody has typed in its terminal,
 * or it waits while another thread polls for it, and its loop has no pending input. What is pending
 * for a loop that waits for a condition is not known. */
static bool is_unawaited(const struct hang_watch *watch, const struct backend_poller *poller,
                         const struct away *away, const struct hang_sight *sight)
{
    bool is_worker = away->tid != away->pid;
    bool rests = sight->at_futex && (is_worker || poller->rested_ns < HANG_RESTING_NS);
    bool excused = (sight->at_child || rests) && !poller->waits_for_condition;
    bool unseen = !away->has_window && !watch->name[0];
    bool typed = unseen && (poller->typed || watch->system->has_typed(poller->pid));
    if (unseen && !typed)
        return !away->helps || !watch->system->is_ready(&poller->loop_set, poller->pid);
    return excused && !watch->system->is_ready(&poller->loop_set, poller->pid);
}

/* Excuses the time since the last look if there is a reason. If only one of two looks found a
 * reason, the time between them is excused as well, and so is all time before the first look: a
 * late report is better than a false one. */
static void excuse(const struct hang_watch *watch, const struct away *away, bool there,
                   bool excused, uint64_t now_ns, struct excuse *ret)
{
    uint64_t looked_ns = watch->looked_ns > away->since_ns ? watch->looked_ns : away->since_ns;
    if (excused && !away->looked_at)
        ret->ns = now_ns - away->since_ns;
    else if (!there || excused || ret->was || now_ns - looked_ns > LATE_LOOK_NS)
        ret->ns += now_ns - looked_ns;
    ret->was = excused;
}

/* Where the thread may hang: the next doubt of this kind has the same number. FNV-1a. */
static uint64_t doubt_of(const struct away *away, const struct backend_poller *poller)
{
    const struct poll_set *set = &poller->handler_set;
    uint64_t hash = 0xcbf29ce484222325ull ^ poller->waits_for_condition ^ away->elsewhere << 1;
    for (uint32_t i = 0; i < set->count; i++)
        hash = (hash ^ set->words[i]) * 0x100000001b3ull;
    return hash | 1;
}

static bool is_wanted(const struct hang_watch *watch, const struct away *away)
{
    if (watch->name[0])
        return strcmp(watch->name, away->process) == 0;
    return strcmp(away->process, OWN_RECORDER) != 0;
}

static void decide(struct hang_watch *watch, struct away *away, const struct backend_poller *poller,
                   uint64_t now_ns)
{
    uint64_t away_ns = now_ns - away->since_ns;
    if (!is_wanted(watch, away) || process_hangs(watch, away))
        return;
    if (!away->elsewhere && away_ns - away->excuse.ns >= watch->threshold_ns) {
        away->is_hang = true;
        watch->seen++;
    } else if ((away->has_window || away->helps) &&
               (away->tid == away->pid || poller->waits_for_condition) &&
               away_ns - away->unawaited.ns >= watch->threshold_ns) {
        away->may_hang = true;
        away->doubt = doubt_of(away, poller);
    }
}

/* Reports a hang that does not end. */
static bool report_long(struct hang_watch *watch, struct away *away, uint64_t now_ns)
{
    const struct excuse *excuse = away->is_hang ? &away->excuse : &away->unawaited;
    bool lasts_long =
        now_ns - away->since_ns - excuse->ns > watch->threshold_ns + HANG_REPORT_AFTER_NS;
    bool reported = away->is_hang ? away->reported : away->doubt_reported || !away->may_hang;
    return reported || !lasts_long || report(watch, away, now_ns, false);
}

static void find_windows(const struct hang_watch *watch, struct away *away,
                         const struct backend_poller *poller)
{
    away->has_window = poller->waits_for_condition || watch->system->has_window(away->pid);
    away->helps = !away->has_window && !watch->name[0] && away->tid == away->pid &&
                  watch->system->works_for_windows(away->pid);
}

/* Whether somebody uses its window. */
static bool has_input(const struct hang_watch *watch, const struct backend_poller *poller,
                      const struct away *away)
{
    return away->has_window && away->tid == away->pid &&
           watch->system->is_ready(&poller->loop_set, poller->pid);
}

static bool judge(struct hang_watch *watch, struct away *away, const struct backend_poller *poller,
                  uint64_t now_ns)
{
    struct hang_sight sight = {.excused = false};
    if (away->is_hang)
        return report_long(watch, away, now_ns);
    bool there = watch->system->look(away->pid, away->tid, &sight);
    if (!away->looked_at)
        find_windows(watch, away, poller);
    bool excused = sight.excused && !(sight.stopped && has_input(watch, poller, away));
    bool unawaited = excused || (there && is_unawaited(watch, poller, away, &sight));
    bool serves =
        there && !away->starves &&
        (poller->waits_for_condition || away->helps || may_serve(watch, poller, away, now_ns));
    excuse(watch, away, there, unawaited || serves, now_ns, &away->excuse);
    excuse(watch, away, there, unawaited, now_ns, &away->unawaited);
    away->looked_at = true;
    if (there) {
        memcpy(away->process, sight.process, sizeof(away->process));
        decide(watch, away, poller, now_ns);
    }
    return report_long(watch, away, now_ns);
}

static struct away *add(struct hang_watch *watch, const struct away *new)
{
    return vec_push(&watch->away, *new) ? &watch->away.data[watch->away.length - 1] : NULL;
}

/* Whether to ask if a client of the display server has unread data: while one has, at each look
 * until that is reported, and soon after the thread has moved; else now and then. */
static bool must_ask(const struct away *away, const struct backend_poller *poller, uint64_t now_ns)
{
    bool counts = away->unread && !away->doubt_reported;
    bool moved = now_ns < poller->usual_ns + JUST_LEFT_NS || away->elsewhere != poller->elsewhere;
    return away->has_window &&
           (counts || moved || !away->asked_ns || now_ns >= away->asked_ns + ASK_AGAIN_NS);
}

static void begin_unread(struct away *away, uint64_t now_ns)
{
    away->unread = true;
    away->since_ns = now_ns;
    away->excuse = away->unawaited = (struct excuse){.was = false};
    away->looked_at = false;
}

/* Whether a main thread waits in its loop, but has been away from the usual place for more than a
 * moment, so that it may wait for another client of the display server. */
static bool polls_elsewhere(const struct backend_poller *poller, uint64_t now_ns)
{
    return poller->polling && poller->usual_ns && poller->tid == poller->pid &&
           now_ns >= poller->usual_ns + MOMENT_NS;
}

/* Judges such a thread from the first to the last look at which a client has unread data. */
static bool look_elsewhere(struct hang_watch *watch, const struct backend_poller *poller,
                           uint64_t now_ns)
{
    struct away *away = find_elsewhere(watch, poller, now_ns);
    if (!away) {
        const struct away new = {.tid = poller->tid,
                                 .pid = poller->pid,
                                 .since_ns = now_ns,
                                 .turn_ns = poller->usual_ns,
                                 .elsewhere = poller->elsewhere,
                                 .has_window = watch->system->has_window(poller->pid)};
        away = add(watch, &new);
        if (!away)
            return false;
    }
    away->seen = true;
    away->seen_ns = now_ns;
    if (!must_ask(away, poller, now_ns))
        return true;
    away->asked_ns = now_ns;
    away->elsewhere = poller->elsewhere;
    if (!watch->system->display_has_untaken(poller->pid)) {
        away->unread = false;
        away->seen = !away->may_hang;
        return true;
    }
    if (!away->unread)
        begin_unread(away, now_ns);
    return away->doubt_reported || judge(watch, away, poller, now_ns);
}

/* Only threads that have been away for a quarter of the limit are examined more closely, or wait
 * elsewhere. */
static bool look_at(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                    const struct backend_poller *poller, uint64_t now_ns)
{
    if (poller->pid == watch->left_out || poller->returns < LOOP_RETURNS)
        return true;
    bool no_cpu = starves(watch, poller, now_ns);
    uint64_t since_ns = no_cpu ? poller->woken_ns : away_since(poller);
    bool early = since_ns > now_ns || now_ns - since_ns < watch->threshold_ns / 4;
    if (poller->polling && !no_cpu && (early || !waits_at_start(watch, pollers, count, poller)))
        return !polls_elsewhere(poller, now_ns) || look_elsewhere(watch, poller, now_ns);
    if (early)
        return true;
    struct away *away = find(watch, poller, since_ns);
    if (!away) {
        const struct away new = {
            .tid = poller->tid, .pid = poller->pid, .since_ns = since_ns, .turn_ns = since_ns};
        away = add(watch, &new);
        if (!away)
            return false;
    }
    away->seen = true;
    away->seen_ns = now_ns;
    away->starves = no_cpu;
    return judge(watch, away, poller, now_ns);
}

void hang_watch_leave_out(struct hang_watch *watch, uint32_t pid)
{
    watch->left_out = pid;
}

/* Whether it can still turn out that a hang goes on: a thread is looked at only when it has been
 * away for a while. */
static bool may_go_on(const struct hang_watch *watch, const struct away *away, uint64_t now_ns)
{
    if (away->elsewhere)
        return now_ns <= away->back_ns + MOMENT_NS;
    return (away->is_hang || away->may_hang) &&
           now_ns < away->back_ns + watch->threshold_ns / 4 + MOMENT_NS;
}

/* Removes threads that have returned to their poll or have ended. */
static bool drop_back(struct hang_watch *watch, uint64_t now_ns)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < watch->away.length; i++) {
        struct away *away = &watch->away.data[i];
        if (!away->seen && !away->back_ns)
            away->back_ns = now_ns;
        if (away->seen || may_go_on(watch, away, now_ns)) {
            away->seen = false;
            watch->away.data[kept++] = *away;
        } else if (away->is_hang ? !away->reported : away->may_hang && !away->doubt_reported) {
            good &= report(watch, away, away->back_ns, true);
        }
    }
    watch->away.length = kept;
    return good;
}

static void count_waiting(struct hang_watch *watch)
{
    uint32_t waiting = (uint32_t)(watch->reports.length - watch->next_report);
    for (size_t i = 0; i < watch->away.length; i++)
        waiting += watch->away.data[i].is_hang && !watch->away.data[i].reported;
    watch->waiting = waiting;
}

/* Those that others find. */
static bool look_for_doubts(struct hang_watch *watch, const struct backend_poller *pollers,
                            size_t count, uint64_t now_ns)
{
    const struct hang_start_wish wish = {watch->threshold_ns, watch->name, watch->left_out};
    size_t before = watch->reports.length;
    for (size_t i = 0; i < watch->away.length; i++)
        if (watch->away.data[i].is_hang)
            hang_places_skip(&watch->places, watch->away.data[i].pid);
    bool good = hang_starts_look(&watch->starts, &wish, watch->system, pollers, count, now_ns,
                                 &watch->reports);
    good &= hang_places_look(&watch->places, &wish, watch->system, pollers, count, now_ns,
                             &watch->reports);
    watch->doubts += (uint32_t)(watch->reports.length - before);
    return good;
}

bool hang_watch_look(struct hang_watch *watch, const struct backend_poller *pollers, size_t count,
                     uint64_t now_ns)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= look_at(watch, pollers, count, &pollers[i], now_ns);
    good &= drop_back(watch, now_ns);
    good &= look_for_doubts(watch, pollers, count, now_ns);
    watch->looked_ns = now_ns;
    count_waiting(watch);
    return good;
}

bool hang_watch_next(struct hang_watch *watch, struct reply_hang *ret)
{
    if (watch->next_report == watch->reports.length)
        return false;
    *ret = watch->reports.data[watch->next_report++];
    if (watch->next_report == watch->reports.length)
        watch->next_report = watch->reports.length = 0;
    count_waiting(watch);
    return true;
}

uint32_t hang_watch_waiting(const struct hang_watch *watch)
{
    return watch->waiting;
}

uint32_t hang_watch_seen(const struct hang_watch *watch)
{
    return watch->seen;
}

uint32_t hang_watch_doubts(const struct hang_watch *watch)
{
    return watch->doubts;
}
