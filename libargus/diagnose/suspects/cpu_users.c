/* Why a thread that wanted a cpu had none: others ran on the cpus that it may use, or the cpu quota of its control group was used up, by
 * itself or by others of the group. Whoever took most of it is blamed before the thread itself.
 *
 * Programs of one name count together: eight shells that share a cpu are each less than the one compiler beside them.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/suspects/cpu_records.h"
#include "diagnose/words.h"

/* Those that ran longest are looked at. */
#define MOST_USERS 256
/* So many programs are named. */
#define MOST_NAMED 3
/* A program that is blamed for the lack of a cpu explains so much of the hang. */
#define EXPLAINS_PERCENT 50u
/* Of what ran in the way, a program that is worth a word. */
#define NAMED_PERCENT 5u

/* The processes of one name. */
struct program {
    uint32_t lead;  /* the thread that ran longest */
    uint32_t count; /* processes */
    uint64_t ns;
    int32_t priority; /* of the lead */
};

struct user_of {
    uint32_t thread;
    uint64_t ns;
    int32_t priority;
};

struct usage {
    struct diagnoser *d;
    uint32_t thread; /* who wanted a cpu */
    struct window window;
    struct cpu_want want;
    bool of_quota;     /* what counts is who used the group's quota */
    uint64_t total_ns; /* of all users; of a quota also the thread's own process */
    VEC(struct user_of) users;
    VEC(struct program) programs; /* the largest first */
};

/* --- who --- */

static uint64_t weight(const struct usage *usage, const struct cpu_user *user)
{
    if (usage->of_quota)
        return user->group == usage->want.group ? user->ran_ns : 0;
    return user->in_way_ns;
}

static bool map_threads(const struct usage *usage, struct idmap *threads)
{
    const struct view *view = &usage->d->view;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *t = &view->threads[i];
        if (!t->idle && t->start_ns < usage->window.end_ns && t->end_ns > usage->window.start_ns &&
            !idmap_put(threads, t->tid, i))
            return false;
    }
    return true;
}

static int longest_first(const void *a, const void *b)
{
    const struct user_of *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The other threads that count. */
static bool find_users(struct usage *usage)
{
    const struct view *view = &usage->d->view;
    struct idmap threads = {.slots = NULL};
    bool good = map_threads(usage, &threads);
    for (size_t i = 0; good && i < usage->want.users.length; i++) {
        const struct cpu_user *user = &usage->want.users.data[i];
        uint32_t thread = idmap_get(&threads, user->tid);
        uint64_t ns = weight(usage, user);
        if (thread == IDMAP_NONE || ns == 0 || (thread == usage->thread && !usage->of_quota))
            continue;
        usage->total_ns += ns;
        bool is_own = view->threads[thread].process == view->threads[usage->thread].process;
        if (thread != usage->thread && !(is_own && usage->of_quota))
            good = vec_push(&usage->users, (struct user_of){thread, ns, user->priority});
    }
    idmap_deinit(&threads);
    if (usage->users.length)
        qsort(usage->users.data, usage->users.length, sizeof(struct user_of), longest_first);
    return good;
}

static struct program *program_of(struct usage *usage, uint32_t thread)
{
    const struct view *view = &usage->d->view;
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    for (size_t i = 0; i < usage->programs.length; i++) {
        struct program *program = &usage->programs.data[i];
        const struct argus_process *other = &view->processes[view->threads[program->lead].process];
        if (other->kernel == process->kernel && strcmp(other->name, process->name) == 0)
            return program;
    }
    return NULL;
}

/* Whether a longer user is of the same process. */
static bool is_counted(const struct usage *usage, size_t at)
{
    const struct view *view = &usage->d->view;
    uint32_t process = view->threads[usage->users.data[at].thread].process;
    for (size_t i = 0; i < at; i++)
        if (view->threads[usage->users.data[i].thread].process == process)
            return true;
    return false;
}

static int largest_first(const void *a, const void *b)
{
    const struct program *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->lead < y->lead ? -1 : x->lead > y->lead;
}

static bool make_programs(struct usage *usage)
{
    for (size_t i = 0; i < usage->users.length && i < MOST_USERS; i++) {
        const struct user_of *user = &usage->users.data[i];
        struct program *program = program_of(usage, user->thread);
        if (!program) {
            if (!vec_push(&usage->programs,
                          (struct program){.lead = user->thread, .priority = user->priority}))
                return false;
            program = &usage->programs.data[usage->programs.length - 1];
        }
        program->ns += user->ns;
        program->count += !is_counted(usage, i);
    }
    if (usage->programs.length)
        qsort(usage->programs.data, usage->programs.length, sizeof(struct program), largest_first);
    return true;
}

static unsigned percent(const struct usage *usage, uint64_t ns)
{
    uint64_t total_ns = usage->total_ns;
    return total_ns ? (unsigned)(((unsigned __int128)ns * 100 + total_ns / 2) / total_ns) : 0;
}

/* Who is to be blamed; NULL: nobody in particular. */
static const struct program *taker(const struct usage *usage, uint64_t wanted_ns)
{
    const struct view *view = &usage->d->view;
    const struct argus_hang *hang = &usage->d->hang;
    const struct program *first = usage->programs.length ? &usage->programs.data[0] : NULL;
    if (!first || view->processes[view->threads[first->lead].process].kernel)
        return NULL;
    uint64_t explained_ns = wanted_ns / 100 * percent(usage, first->ns);
    return explained_ns >= (hang->end_ns - hang->start_ns) / 100 * EXPLAINS_PERCENT ? first : NULL;
}

/* --- in words --- */

/* "hog [12] and 2 more". */
static const char *program_text(const struct usage *usage, const struct program *program,
                                char *buffer, size_t bytes)
{
    const struct view *view = &usage->d->view;
    const struct argus_process *process = &view->processes[view->threads[program->lead].process];
    char more[32] = "";
    if (program->count > 1)
        snprintf(more, sizeof(more), " and %u more", program->count - 1);
    snprintf(buffer, bytes, "%s [%llu]%s", process->name, (unsigned long long)process->pid, more);
    return buffer;
}

/* ", at real-time priority 50", where it is not that of the thread that waited. */
static const char *priority_text(const struct usage *usage, int32_t priority, char *buffer,
                                 size_t bytes)
{
    int32_t own = usage->want.priority;
    buffer[0] = '\0';
    if (priority == CPU_PRIORITY_NONE || priority == own)
        return buffer;
    if (priority < 0)
        snprintf(buffer, bytes, ", with a deadline");
    else if (priority < CPU_PRIORITY_USUAL)
        snprintf(buffer, bytes, ", at real-time priority %d", CPU_PRIORITY_USUAL - 1 - priority);
    else if (own >= CPU_PRIORITY_USUAL)
        snprintf(buffer, bytes, ", at nice %d, not %d", priority - CPU_PRIORITY_NICE0,
                 own - CPU_PRIORITY_NICE0);
    return buffer;
}

/* "cpu 1 (the only one that it may use)". */
static const char *cpus_text(const struct cpu_want *want, char *buffer, size_t bytes)
{
    int allowed = __builtin_popcountll(want->cpus);
    if (allowed == 1)
        snprintf(buffer, bytes, "cpu %d (the only one that it may use)",
                 __builtin_ctzll(want->cpus));
    else if (allowed > 1)
        snprintf(buffer, bytes, "the %d cpus that it may use", allowed);
    else if (want->seen_count == 1)
        snprintf(buffer, bytes, "cpu %u (in whose queue it was)", want->seen_cpu);
    else
        snprintf(buffer, bytes, "the %u cpus in whose queues it was", want->seen_count);
    return buffer;
}

/* "hog [12] (62 %, at real-time priority 50), sh [13] (20 %)". */
static void programs_text(const struct usage *usage, char *buffer, size_t bytes)
{
    size_t length = 0;
    char who[96], priority[64];
    buffer[0] = '\0';
    for (size_t i = 0; i < usage->programs.length && i < MOST_NAMED && length < bytes; i++) {
        const struct program *program = &usage->programs.data[i];
        unsigned share = percent(usage, program->ns);
        if (i > 0 && share < NAMED_PERCENT)
            break;
        int written = snprintf(buffer + length, bytes - length, "%s%s (%u %%%s)", i ? ", " : "",
                               program_text(usage, program, who, sizeof(who)), share,
                               priority_text(usage, program->priority, priority, sizeof(priority)));
        length += written > 0 ? (size_t)written : 0;
    }
}

static const char *group_text(const struct cpu_want *want, char *buffer, size_t bytes)
{
    char quota[32], period[32];
    text_duration(want->quota_ns, quota, sizeof(quota));
    text_duration(want->period_ns, period, sizeof(period));
    if (want->group_name[0])
        snprintf(buffer, bytes, "%s (%s of cpu in each %s)", want->group_name, quota, period);
    else
        snprintf(buffer, bytes, "with inode %llu (%s of cpu in each %s)",
                 (unsigned long long)want->group, quota, period);
    return buffer;
}

/* --- the blame --- */

static enum argus_cpu_lack lack_of(const struct cpu_want *want)
{
    uint64_t half_ns = want->runnable_ns / 2;
    if (!half_ns || want->throttled_ns + want->idle_ns + want->unfair_ns < half_ns)
        return ARGUS_CPU_BUSY;
    return want->group && want->throttled_ns >= half_ns / 2 ? ARGUS_CPU_QUOTA
                                                            : ARGUS_CPU_PROBABLY_QUOTA;
}

/* What stands behind the colon where something unknown held it back. */
static char *held_reason(const struct cpu_want *want)
{
    char idle[32], unfair[32];
    text_duration(want->idle_ns, idle, sizeof(idle));
    text_duration(want->unfair_ns, unfair, sizeof(unfair));
    return want->idle_ns >= want->unfair_ns
               ? text_print("its cpu was idle for %s of these, so that something held it back, "
                            "probably the cpu quota of its control group (cpu.max)",
                            idle)
               : text_print("for %s of these, others that have no higher priority ran on its cpu "
                            "again and again, so that something held it back, probably the cpu "
                            "quota of its control group (cpu.max) or that group's low share "
                            "(cpu.weight)",
                            unfair);
}

/* Why there was no cpu: what stands behind the colon. NULL without memory. */
static char *reason(const struct usage *usage, enum argus_cpu_lack lack, uint64_t wanted_ns)
{
    const struct cpu_want *want = &usage->want;
    char group[128], held[32], cpus[64], programs[512];
    if (lack == ARGUS_CPU_PROBABLY_QUOTA)
        return held_reason(want);
    text_duration(want->throttled_ns < wanted_ns ? want->throttled_ns : wanted_ns, held,
                  sizeof(held));
    programs_text(usage, programs, sizeof(programs));
    if (lack == ARGUS_CPU_QUOTA)
        return text_print("its control group %s had used up its cpu quota and was throttled for "
                          "%s of these%s%s",
                          group_text(want, group, sizeof(group)), held,
                          programs[0] ? "; of the quota, others used: " : "", programs);
    if (!programs[0])
        return text_print("the machine was too busy");
    return text_print("others ran on %s: %s", cpus_text(want, cpus, sizeof(cpus)), programs);
}

/* The vertex of `thread` with most of its running in the window. */
static uint32_t busiest_vertex(const struct view *view, uint32_t thread, struct window window)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t v = timeline_before(view, thread, window.start_ns + 1), found = ARGUS_NONE;
    uint64_t most_ns = 0;
    for (v = v == ARGUS_NONE ? t->first_vertex : v;
         v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < window.end_ns; v++) {
        if (found == ARGUS_NONE || view->vertices[v].run_ns > most_ns) {
            found = v;
            most_ns = view->vertices[v].run_ns;
        }
    }
    return found;
}

static struct argus_error *blame_taker(struct usage *usage, const struct program *program,
                                       enum argus_cpu_lack lack, uint64_t wanted_ns)
{
    struct diagnoser *d = usage->d;
    char who[96], priority[64], whose[128], group[128], cpus[64], ran[32];
    uint32_t vertex = d->view.threads[program->lead].vertex_count
                          ? busiest_vertex(&d->view, program->lead, usage->window)
                          : ARGUS_NONE;
    if (vertex == ARGUS_NONE)
        return NULL;
    unsigned share = percent(usage, program->ns);
    program_text(usage, program, who, sizeof(who));
    text_thread(&d->view, usage->thread, whose, sizeof(whose));
    text_duration(program->ns, ran, sizeof(ran));
    priority_text(usage, program->priority, priority, sizeof(priority));
    char *why =
        lack == ARGUS_CPU_QUOTA
            ? text_print("%s used %u %% of the cpu quota of the control group %s, which %s needed",
                         who, share, group_text(&usage->want, group, sizeof(group)), whose)
            : text_print("%s ran for %s on %s while %s wanted it: %u %% of what others ran there%s",
                         who, ran, cpus_text(&usage->want, cpus, sizeof(cpus)), whose, share,
                         priority);
    size_t before = d->culprits.length;
    struct argus_error *error = diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_RUNNING,
                                                      usage->window, wanted_ns / 100 * share, why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].lack =
            lack == ARGUS_CPU_QUOTA ? ARGUS_CPU_TOOK_QUOTA : ARGUS_CPU_TOOK;
    return error;
}

static struct argus_error *blame_all(struct usage *usage, uint32_t vertex, uint64_t run_ns,
                                     uint64_t runnable_ns, const char *normal)
{
    struct diagnoser *d = usage->d;
    enum argus_cpu_lack lack = lack_of(&usage->want);
    char ran[32], wanted[32], whole[32];
    usage->of_quota = lack == ARGUS_CPU_QUOTA;
    if (!find_users(usage) || !make_programs(usage))
        return argus_error_memory();
    const struct program *program =
        lack == ARGUS_CPU_PROBABLY_QUOTA ? NULL : taker(usage, runnable_ns);
    struct argus_error *error = program ? blame_taker(usage, program, lack, runnable_ns) : NULL;
    char *because = error ? NULL : reason(usage, lack, runnable_ns);
    if (error || !because)
        return error ? error : argus_error_memory();
    char *why = text_print("wanted a cpu and had none for %s of the %s, and ran for %s: %s%s",
                           text_duration(runnable_ns, wanted, sizeof(wanted)),
                           text_duration(d->hang.end_ns - d->hang.start_ns, whole, sizeof(whole)),
                           text_duration(run_ns, ran, sizeof(ran)), because, normal);
    free(because);
    size_t before = d->culprits.length;
    error = diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_RUNNING, usage->window,
                                  run_ns + runnable_ns, why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].lack = (uint8_t)lack;
    return error;
}

struct argus_error *diagnoser_blame_no_cpu(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t run_ns, uint64_t runnable_ns,
                                           const char *normal)
{
    struct usage usage = {.d = d, .thread = d->view.vertices[vertex].thread, .window = part};
    struct argus_error *error = cpu_want_read(d, usage.thread, part, &usage.want);
    if (!error)
        error = blame_all(&usage, vertex, run_ns, runnable_ns, normal);
    cpu_want_deinit(&usage.want);
    vec_deinit(&usage.users);
    vec_deinit(&usage.programs);
    return error;
}
