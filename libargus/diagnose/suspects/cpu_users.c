/* Why a runnable thread got no CPU: other threads ran on the CPUs that it may use, or the CPU quota
 * of its control group was used up, by itself or by others of the group. The program that took most
 * of it is blamed before the thread itself.
 *
 * Programs of one name count together: each of eight shells that share a CPU may use less of it
 * than one compiler that shares it too.
 */
#include <string.h>

#include "diagnose/suspects/cpu_records.h"

/* So many of the threads that ran longest are looked at. */
#define MOST_USERS 256
/* So many programs are named. */
#define MOST_NAMED 3
/* A program is blamed for the lack of a CPU if it explains at least this part of the hang. */
#define EXPLAINS_PERCENT 50u
/* A program is named if it is at least this part of what ran instead. */
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
    uint32_t thread; /* the thread that got no CPU */
    struct window window;
    struct cpu_want want;
    bool of_quota;     /* counts the use of the group's quota */
    uint64_t total_ns; /* of all users; for a quota, including the thread's own process */
    VEC(struct user_of) users;
    VEC(struct program) programs; /* the largest first */
};

/* --- users of the CPU --- */

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

/* Finds the other threads that count. */
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

/* Whether the process of user `at` has a user that ran longer, and so is counted already. */
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

/* The program to blame; NULL: none in particular. */
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

/* --- for the answer --- */

static struct argus_reason_user user_of_program(const struct usage *usage,
                                                const struct program *program)
{
    return (struct argus_reason_user){.thread = program->lead,
                                      .count = program->count,
                                      .percent = percent(usage, program->ns),
                                      .priority = program->priority};
}

/* At most MOST_NAMED of them; returns how many. */
static size_t name_users(const struct usage *usage, struct argus_reason_user *ret)
{
    size_t count = 0;
    while (count < usage->programs.length && count < MOST_NAMED) {
        struct argus_reason_user user = user_of_program(usage, &usage->programs.data[count]);
        if (count > 0 && user.percent < NAMED_PERCENT)
            break;
        ret[count++] = user;
    }
    return count;
}

static struct argus_reason_cpu cpu_of(const struct cpu_want *want)
{
    struct argus_reason_cpu cpu = {.cpus = want->cpus,
                                   .seen_cpu = want->seen_cpu,
                                   .seen_count = want->seen_count,
                                   .seen_before = want->seen_before,
                                   .priority = want->priority,
                                   .group = want->group,
                                   .quota_ns = want->quota_ns,
                                   .period_ns = want->period_ns};
    memcpy(cpu.group_name, want->group_name, sizeof(cpu.group_name));
    return cpu;
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

/* Why there was no CPU. */
static enum argus_reason_kind reason_of(const struct usage *usage, enum argus_cpu_lack lack)
{
    const struct cpu_want *want = &usage->want;
    bool has_users = usage->programs.length > 0;
    if (lack == ARGUS_CPU_PROBABLY_QUOTA)
        return want->idle_ns >= want->unfair_ns ? ARGUS_REASON_CPU_IDLE : ARGUS_REASON_CPU_UNFAIR;
    if (lack == ARGUS_CPU_QUOTA)
        return has_users ? ARGUS_REASON_THROTTLED_USED : ARGUS_REASON_THROTTLED;
    return has_users ? ARGUS_REASON_OTHERS_RAN : ARGUS_REASON_TOO_BUSY;
}

/* How much of the `wanted_ns` that thing held the thread back. */
static uint64_t held_ns(const struct cpu_want *want, enum argus_reason_kind because,
                        uint64_t wanted_ns)
{
    if (because == ARGUS_REASON_CPU_IDLE)
        return want->idle_ns;
    if (because == ARGUS_REASON_CPU_UNFAIR)
        return want->unfair_ns;
    return want->throttled_ns < wanted_ns ? want->throttled_ns : wanted_ns;
}

/* The vertex of `thread` that ran longest in the window. */
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
    uint32_t vertex = d->view.threads[program->lead].vertex_count
                          ? busiest_vertex(&d->view, program->lead, usage->window)
                          : ARGUS_NONE;
    if (vertex == ARGUS_NONE)
        return NULL;
    struct argus_reason_user user = user_of_program(usage, program);
    struct argus_reason why = {.kind = lack == ARGUS_CPU_QUOTA ? ARGUS_REASON_TOOK_QUOTA
                                                               : ARGUS_REASON_TOOK_CPU,
                               .waiter = usage->thread,
                               .ns = program->ns,
                               .cpu = cpu_of(&usage->want),
                               .users = &user,
                               .user_count = 1};
    size_t before = d->culprits.length;
    struct argus_error *error = diagnoser_add_culprit(
        d, vertex, ARGUS_TYPE_LONG_RUNNING, usage->window, wanted_ns / 100 * user.percent, &why);
    if (error || d->culprits.length == before)
        return error;
    d->guessed |= usage->want.seen_before;
    d->culprits.data[before].lack = lack == ARGUS_CPU_QUOTA ? ARGUS_CPU_TOOK_QUOTA : ARGUS_CPU_TOOK;
    return NULL;
}

/* Blames the thread that got no CPU. */
static struct argus_error *blame_lack(struct usage *usage, enum argus_cpu_lack lack,
                                      const struct argus_reason *given)
{
    struct diagnoser *d = usage->d;
    struct argus_reason_user users[MOST_NAMED];
    struct argus_reason why = *given;
    why.because = (uint8_t)reason_of(usage, lack);
    why.held_ns = held_ns(&usage->want, (enum argus_reason_kind)why.because, why.wanted_ns);
    why.cpu = cpu_of(&usage->want);
    why.users = users;
    why.user_count = name_users(usage, users);
    size_t before = d->culprits.length;
    struct argus_error *error = diagnoser_add_culprit(
        d, why.vertex, ARGUS_TYPE_LONG_RUNNING, usage->window, why.run_ns + why.wanted_ns, &why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].lack = (uint8_t)lack;
    return error;
}

static struct argus_error *blame_all(struct usage *usage, const struct argus_reason *why)
{
    enum argus_cpu_lack lack = lack_of(&usage->want);
    usage->of_quota = lack == ARGUS_CPU_QUOTA;
    if (!find_users(usage) || !make_programs(usage))
        return argus_error_memory();
    const struct program *program =
        lack == ARGUS_CPU_PROBABLY_QUOTA ? NULL : taker(usage, why->wanted_ns);
    struct argus_error *error = program ? blame_taker(usage, program, lack, why->wanted_ns) : NULL;
    return error ? error : blame_lack(usage, lack, why);
}

struct argus_error *diagnoser_blame_no_cpu(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t run_ns, uint64_t runnable_ns,
                                           const struct argus_reason_normal *normal)
{
    struct usage usage = {.d = d, .thread = d->view.vertices[vertex].thread, .window = part};
    struct argus_error *error = cpu_want_read(d, usage.thread, part, &usage.want);
    if (!error)
        error =
            blame_all(&usage, &(struct argus_reason){.kind = ARGUS_REASON_NO_CPU,
                                                     .vertex = vertex,
                                                     .run_ns = run_ns,
                                                     .wanted_ns = runnable_ns,
                                                     .whole_ns = d->hang.end_ns - d->hang.start_ns,
                                                     .normal = *normal});
    cpu_want_deinit(&usage.want);
    vec_deinit(&usage.users);
    vec_deinit(&usage.programs);
    return error;
}
