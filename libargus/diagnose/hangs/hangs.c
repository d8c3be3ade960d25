/* Finds hangs: calls every indicator in turn and makes the list (argus/hangs.h says what
 * counts). */
#include "diagnose/hangs/finder.h"

#include <stdlib.h>
#include <string.h>

/* At a named moment, or at one to which a sign points, a hang may be as short as this. */
#define SHORTEST_NAMED_NS 50000000ull

/* Argus's own programs: they poll, and are busy when there is much to record or a snapshot is
 * searched. Their threads are not reported as hung unless the user asks for them. */
static const char *const own_programs[] = {"argus-recorder", "argus"};

static const struct {
    bool (*find)(struct finder *finder);
    const char *name;
} indicators[ARGUS_INDICATORS] = {
#define HANG_INDICATOR(symbol, find_, name_)                                                       \
    [ARGUS_INDICATOR_##symbol] = {.find = (find_), .name = (name_)},
#include "argus/hang_indicators.def"
#undef HANG_INDICATOR
};

const char *argus_indicator_name(enum argus_indicator indicator)
{
    return (size_t)indicator < ARGUS_INDICATORS ? indicators[indicator].name : "unknown";
}

bool indicator_none(struct finder *finder)
{
    (void)finder;
    return true;
}

/* --- which are wanted --- */

static bool is_text(const char *wanted, const char *text)
{
    return !wanted || strcmp(wanted, text) == 0;
}

static bool is_own(const char *process_name)
{
    for (size_t i = 0; i < sizeof(own_programs) / sizeof(*own_programs); i++)
        if (strcmp(process_name, own_programs[i]) == 0)
            return true;
    return false;
}

static bool names_threads(const struct argus_hang_options *options)
{
    return options->process_name || options->thread_name || options->pid || options->tid;
}

bool hang_is_wanted(const struct view *view, const struct argus_hang_options *options,
                    uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_process *process = &view->processes[t->process];
    if (process->kernel || t->idle || t->vertex_count == 0)
        return false;
    if (!names_threads(options) && is_own(process->name))
        return false;
    return is_text(options->process_name, process->name) &&
           is_text(options->thread_name, t->name) &&
           (options->pid == 0 || options->pid == process->pid) &&
           (options->tid == 0 || options->tid == t->tid);
}

bool hang_is_named(const struct argus_hang_options *options)
{
    return names_threads(options) || options->has_time;
}

static bool covers(const struct argus_hang *hang, uint64_t time_ns)
{
    return hang->start_ns <= time_ns && time_ns <= hang->end_ns;
}

bool hang_is_at_time(const struct argus_hang_options *options, uint64_t start_ns, uint64_t end_ns)
{
    return !options->has_time || (start_ns <= options->until_ns && options->time_ns <= end_ns);
}

uint64_t finder_threshold(const struct finder *finder, struct argus_hang *hang)
{
    const struct argus_hang_options *options = finder->options;
    uint64_t threshold_ns = argus_hang_threshold_ns(options);
    if (options->has_time && threshold_ns > SHORTEST_NAMED_NS)
        threshold_ns = SHORTEST_NAMED_NS;
    hang->suspended_ns = 0;
    for (size_t i = 0; i < finder->frozen.length; i++) {
        const struct frozen *frozen = &finder->frozen.data[i];
        if (!covers(hang, frozen->suspension.noticed_ns))
            continue;
        uint64_t from_ns = frozen->start_ns > hang->start_ns ? frozen->start_ns : hang->start_ns;
        threshold_ns += frozen->end_ns > from_ns ? frozen->end_ns - from_ns : 0;
        hang->suspended_ns += frozen->suspension.length_ns;
    }
    return threshold_ns;
}

bool hang_is_set_off_by_itself(const struct view *view, const struct argus_hang *hang)
{
    uint32_t first = argus_graph_vertex_at(view->graph, hang->thread, hang->start_ns);
    uint32_t before = first == ARGUS_NONE ? ARGUS_NONE : argus_graph_previous(view->graph, first);
    if (before == ARGUS_NONE || view->vertices[first].start_ns != hang->start_ns)
        return false;
    uint32_t cause = argus_graph_cause(view->graph, first);
    const struct argus_wait *wait = &view->vertices[before].wait;
    bool own =
        cause == ARGUS_NONE || view->vertices[view->edges[cause].from].thread == hang->thread;
    return own && (wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT);
}

static enum argus_urgency urgency_of(const struct finder *finder, const struct argus_hang *hang,
                                     const struct argus_pendings *pendings)
{
    bool has_windows = finder_has_windows(finder, hang->thread);
    if (pendings_any(pendings, 0))
        return has_windows ? ARGUS_URGENCY_WINDOW_PENDING : ARGUS_URGENCY_PENDING;
    if (pendings->count == 0 && hang_is_set_off_by_itself(finder->view, hang))
        return ARGUS_URGENCY_NOBODY;
    return has_windows ? ARGUS_URGENCY_WINDOW_SET_OFF : ARGUS_URGENCY_SET_OFF;
}

/* Whether the thread waited once from `from_ns` to `to_ns`, which wake-ups alone tell. */
static bool waits_throughout(const struct view *view, uint32_t thread, uint64_t from_ns,
                             uint64_t to_ns)
{
    uint32_t v = argus_graph_vertex_at(view->graph, thread, from_ns);
    return v != ARGUS_NONE && view->vertices[v].end_ns <= from_ns &&
           timeline_wait_end(view, v) >= to_ns;
}

/* While the recorder leaves out system calls, a thread may return to its loop unseen. Then it is
 * not known whether there was a hang, unless the user or the scheduler's records say so. */
static bool may_be_none(const struct view *view, const struct argus_hang *hang)
{
    const struct argus_left_out *left;
    size_t count = argus_graph_left_out(view->graph, &left);
    if (hang->indicator == ARGUS_INDICATOR_NEVER_RAN || hang->indicator == ARGUS_INDICATOR_LONGEST)
        return false;
    for (size_t i = 0; i < count && left[i].from_ns < hang->end_ns; i++) {
        bool lacks = left[i].categories & ARGUS_LEFT_OUT_SYSCALLS;
        uint64_t to_ns = left[i].to_ns < hang->end_ns ? left[i].to_ns : hang->end_ns;
        uint64_t from_ns = left[i].from_ns > hang->start_ns ? left[i].from_ns : hang->start_ns;
        if (lacks && left[i].to_ns > hang->start_ns &&
            !waits_throughout(view, hang->thread, from_ns, to_ns))
            return true;
    }
    return false;
}

bool finder_add(struct finder *finder, struct argus_hang *hang)
{
    struct argus_pendings pendings;
    if (!hang_is_at_time(finder->options, hang->start_ns, hang->end_ns) ||
        may_be_none(finder->view, hang))
        return true;
    struct argus_error *error = argus_pending_find(finder->view->graph, hang, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    hang->urgency = (uint8_t)urgency_of(finder, hang, &pendings);
    hang->indicators |= 1u << hang->indicator;
    argus_pendings_deinit(&pendings);
    return vec_push(&finder->found, *hang);
}

/* --- signs --- */

static bool is_of(const struct finder *finder, uint32_t thread, const struct sign *sign)
{
    return sign->process == ARGUS_NONE || finder->view->threads[thread].process == sign->process;
}

static bool confirm(struct finder *finder, const struct sign *sign)
{
    bool any = false;
    for (size_t i = 0; i < finder->found.length; i++) {
        struct argus_hang *hang = &finder->found.data[i];
        if (!is_of(finder, hang->thread, sign) || !covers(hang, sign->time_ns))
            continue;
        hang->indicators |= 1u << sign->indicator;
        any = true;
    }
    return any;
}

/* Finds the stretches between event-loop waits around a moment, however short. Only of main
 * threads, because these draw. */
static bool find_around(struct finder *near, const struct sign *sign)
{
    bool done = true;
    for (uint32_t i = 0; done && i < near->view->process_count; i++) {
        uint32_t thread = near->view->processes[i].main_thread;
        if (thread != ARGUS_NONE && is_of(near, thread, sign) &&
            hang_is_wanted(near->view, near->options, thread))
            done = indicator_loop(near, thread);
    }
    if (done && near->found.length == 0 && sign->process != ARGUS_NONE)
        done = indicator_longest(near);
    return done;
}

static const struct argus_hang *longest_of(const hang_list *list)
{
    const struct argus_hang *longest = NULL;
    for (size_t i = 0; i < list->length; i++)
        if (!longest ||
            list->data[i].end_ns - list->data[i].start_ns > longest->end_ns - longest->start_ns)
            longest = &list->data[i];
    return longest;
}

bool finder_add_sign(struct finder *finder, const struct sign *sign)
{
    if (confirm(finder, sign))
        return true;
    struct argus_hang_options options = *finder->options;
    if (!hang_is_at_time(&options, sign->time_ns, sign->time_ns))
        return true;
    options.has_time = true;
    options.time_ns = options.until_ns = sign->time_ns;
    if (sign->process != ARGUS_NONE && !options.pid)
        options.pid = finder->view->processes[sign->process].pid;
    struct finder near = {.view = finder->view,
                          .windows = finder->windows,
                          .keys = finder->keys,
                          .options = &options,
                          .sees_pending = finder->sees_pending};
    bool done = find_around(&near, sign);
    const struct argus_hang *longest = longest_of(&near.found);
    if (done && longest) {
        struct argus_hang hang = *longest;
        hang.indicator = sign->indicator;
        hang.indicators = 1u << sign->indicator;
        if (hang.urgency == ARGUS_URGENCY_NOBODY)
            hang.urgency = ARGUS_URGENCY_SET_OFF;
        done = vec_push(&finder->found, hang);
    }
    vec_deinit(&near.found);
    return done;
}

/* --- the list --- */

static struct argus_error *nothing_wanted(const struct argus_hang_options *options)
{
    if (options->process_name)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "the trace has no process named \"%s\" that ran",
                                  options->process_name);
    if (options->thread_name)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "the trace has no thread named \"%s\" that ran",
                                  options->thread_name);
    if (options->pid)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the trace has no process %llu that ran",
                                  (unsigned long long)options->pid);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the trace has no thread %llu that ran",
                              (unsigned long long)options->tid);
}

static struct argus_error *find(struct finder *finder)
{
    const struct argus_hang_options *options = finder->options;
    bool any = false, done = frozen_find(finder);
    for (uint32_t thread = 0; done && thread < finder->view->thread_count; thread++) {
        if (!hang_is_wanted(finder->view, options, thread))
            continue;
        any = true;
        done = indicator_loop(finder, thread);
    }
    if (done && names_threads(options) && !any)
        return nothing_wanted(options);
    for (size_t i = 0; done && i < ARGUS_INDICATORS; i++)
        done = indicators[i].find(finder);
    if (done && hang_is_named(options) && finder->found.length == 0 && options->at_least_one)
        done = indicator_longest(finder);
    return done ? NULL : argus_error_memory();
}

struct argus_error *argus_hangs_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_hangs *ret)
{
    struct view view = view_of(graph);
    struct finder finder = {.view = &view,
                            .options = options,
                            .windows = calloc(view.thread_count + 1, sizeof(*finder.windows)),
                            .keys = calloc(view.process_count + 1, sizeof(*finder.keys)),
                            .sees_pending = finder_sees_pending(&view)};
    bool has_memory = finder.windows && finder.keys;
    struct argus_error *error = has_memory ? find(&finder) : argus_error_memory();
    if (!error)
        hangs_order(&finder);
    vec_deinit(&finder.frozen);
    free(finder.windows);
    free(finder.keys);
    if (error) {
        vec_deinit(&finder.found);
        return error;
    }
    *ret = (struct argus_hangs){.items = finder.found.data, .count = finder.found.length};
    return NULL;
}

void argus_hangs_deinit(struct argus_hangs *hangs)
{
    free(hangs->items);
    *hangs = (struct argus_hangs){0};
}
