/* The baseline: the path that ended a similar wait which went well, and whose threads should have
 * ended this one.
 *
 * Any of several things can end a wait for many things, so there may be one normal case for each
 * thread that ended such waits. If several are about equally similar, the user is asked to choose.
 * If no thread on the chosen path did anything unusual, the others are offered: all that the user
 * confirms are used.
 */
#include <string.h>

#include "diagnose/suspects/suspect_search.h"

/* A baseline with so much of the best one's score is considered as good. */
#define NEAR_SCORE   0.9
#define MIN_BASELINE 0.5

static bool is_used(const struct suspect_search *search, uint32_t waker)
{
    for (size_t i = 0; i < search->used_count; i++)
        if (search->used[i] == waker)
            return true;
    return false;
}

/* Picks the candidates: for each thread that ended such a wait the best one, sorted, best first. */
static size_t pick_options(const struct suspect_search *search,
                           const struct argus_similars *similars, const struct argus_similar **ret)
{
    const struct view *view = &search->d->view;
    size_t count = 0;
    for (size_t i = 0; i < similars->count && count < MAX_BASELINES; i++) {
        const struct argus_similar *similar = &similars->items[i];
        uint32_t waker = waker_thread(view, similar->vertex);
        if (!similar->different_outcome || similar->score < MIN_BASELINE || waker == ARGUS_NONE ||
            waker == view->vertices[search->vertex].thread)
            continue;
        bool known = is_used(search, waker);
        for (size_t j = 0; j < count; j++)
            known |= waker_thread(view, ret[j]->vertex) == waker;
        if (!known)
            ret[count++] = similar;
    }
    return count;
}

/* How many of the candidates are so good that the user should choose. */
static size_t count_near(const struct argus_similar *const *options, size_t count)
{
    size_t near = 0;
    while (near < count && options[near]->score >= NEAR_SCORE * options[0]->score)
        near++;
    return near;
}

/* Asks the user to choose one of `similars`. In a second round, the last option is "none": `*ret`
 * is ARGUS_NONE then. */
static struct argus_error *ask_baseline(struct suspect_search *search,
                                        const struct argus_similar **similars, size_t count,
                                        uint32_t *ret)
{
    const struct view *view = &search->d->view;
    struct argus_option options[MAX_BASELINES + 1];
    bool again = search->used_count > 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t waker = waker_thread(view, similars[i]->vertex);
        options[i] = (struct argus_option){.kind = ARGUS_OPTION_BASELINE,
                                           .vertex = similars[i]->vertex,
                                           .baseline = {.process = view->threads[waker].process,
                                                        .likeness = similars[i]->likeness}};
    }
    options[count] = (struct argus_option){.kind = ARGUS_OPTION_NONE, .vertex = ARGUS_NONE};
    struct argus_question question = {.kind = ARGUS_QUESTION_BASELINE,
                                      .vertex = search->vertex,
                                      .again = again,
                                      .options = options,
                                      .option_count = count + again,
                                      .default_reason = ARGUS_DEFAULT_MOST_SIMILAR};
    int answer;
    struct argus_error *error = ask(&search->d->questions, &question, &answer);
    if (error)
        return error;
    search->d->stopped = answer == ARGUS_ANSWER_STOP;
    *ret = search->d->stopped ? ARGUS_NONE : options[answer].vertex;
    return NULL;
}

/* --- the threads of its path --- */

/* The thread of this graph with the role of `thread` in another graph; ARGUS_NONE. */
static uint32_t find_namesake(const struct diagnoser *d, const struct view *other, uint32_t thread,
                              uint64_t time_ns)
{
    const struct argus_thread *t = &other->threads[thread];
    bool is_main = other->processes[t->process].main_thread == thread;
    const char *process = other->processes[t->process].name;
    for (uint32_t i = 0; i < d->view.thread_count; i++) {
        const struct argus_thread *mine = &d->view.threads[i];
        bool mine_is_main = d->view.processes[mine->process].main_thread == i;
        if (mine->start_ns <= time_ns && mine->end_ns > time_ns && mine_is_main == is_main &&
            strcmp(d->view.processes[mine->process].name, process) == 0 &&
            (is_main || strcmp(mine->name, t->name) == 0))
            return i;
    }
    return ARGUS_NONE;
}

/* Adds the threads of the path that ended the baseline's wait, the nearest first. The questions of
 * that walk get their default answers: only the participants matter, and those that did nothing
 * unusual are skipped later. */
static struct argus_error *add_expected_path(struct suspect_search *search,
                                             const struct argus_graph *graph, uint32_t baseline)
{
    struct view view = view_of(graph);
    bool own = graph == search->d->view.graph;
    uint64_t waited_ns = search->d->view.vertices[search->vertex].end_ns;
    uint32_t next = timeline_next(&view, baseline);
    struct argus_slice_options options = {.from_ns = view.vertices[baseline].end_ns};
    struct argus_slice slice;
    if (next == ARGUS_NONE)
        return NULL;
    struct argus_error *error = argus_slice(graph, next, &options, argus_asker_auto(), &slice);
    if (error)
        return error;
    bool good = true;
    for (size_t i = 1; good && i < slice.step_count; i++) {
        uint32_t thread = view.vertices[slice.steps[i].vertex].thread;
        if (!own)
            thread = find_namesake(search->d, &view, thread, waited_ns);
        good =
            thread == ARGUS_NONE || suspect_search_add(search, thread, ARGUS_REASON_ENDED_SIMILAR);
    }
    argus_slice_deinit(&slice);
    return good ? NULL : argus_error_memory();
}

/* --- of this trace --- */

/* Notes that the normal case `baseline` has been used. The diagnosis reports the one used last for
 * the hung thread's wait. */
static void use_baseline(struct suspect_search *search, uint32_t baseline)
{
    search->used[search->used_count++] = waker_thread(&search->d->view, baseline);
    if (search->d->baseline == ARGUS_NONE || search->vertex == search->d->hang.vertex) {
        search->d->baseline = baseline;
        search->d->baseline_graph = search->d->view.graph;
    }
}

static struct argus_error *search_baselines(const struct diagnoser *d, uint32_t vertex,
                                            const struct argus_graph *other, size_t limit,
                                            struct argus_similars *ret)
{
    struct argus_similar_options options = {.limit = limit, .context = d->options.context};
    if (other) {
        options.other = other;
        options.symbols = d->symbols;
        options.other_symbols = d->options.other_symbols;
    }
    return argus_similar_search(d->view.graph, vertex, &options, ret);
}

static struct argus_error *find_own_baseline(struct suspect_search *search)
{
    struct argus_similars similars;
    const struct argus_similar *options[MAX_BASELINES];
    struct argus_error *error = search_baselines(search->d, search->vertex, NULL, 0, &similars);
    if (error)
        return error;
    size_t count = pick_options(search, &similars, options), near = count_near(options, count);
    uint32_t baseline = count > 0 ? options[0]->vertex : ARGUS_NONE;
    if (near > 1 || (count > 0 && search->used_count > 0))
        error = ask_baseline(search, options, near, &baseline);
    if (!error && baseline != ARGUS_NONE) {
        use_baseline(search, baseline);
        search->again = count > 1 && search->used_count < MAX_BASELINES;
        error = add_expected_path(search, search->d->view.graph, baseline);
    }
    argus_similars_deinit(&similars);
    return error;
}

/* --- of any trace --- */

struct argus_error *diagnoser_find_baseline(struct diagnoser *d, uint32_t vertex,
                                            struct argus_similar *ret,
                                            const struct argus_graph **ret_graph)
{
    const struct argus_graph *const graphs[] = {d->options.other, d->view.graph};
    struct argus_error *error = NULL;
    *ret_graph = NULL;
    for (size_t i = 0; !error && !*ret_graph && i < 2; i++) {
        struct argus_similars similars;
        if (!graphs[i])
            continue;
        error = search_baselines(d, vertex, i == 0 ? graphs[i] : NULL, 1, &similars);
        if (error)
            return error;
        if (similars.count > 0 && similars.items[0].different_outcome &&
            similars.items[0].score >= MIN_BASELINE) {
            *ret = similars.items[0];
            *ret_graph = graphs[i];
        }
        argus_similars_deinit(&similars);
    }
    return error;
}

/* The trace that the user gave as the normal one comes first: by giving it, the user said that it
 * is normal. */
struct argus_error *find_baseline(struct suspect_search *search)
{
    const struct argus_graph *graph;
    struct argus_similar similar;
    if (!search->d->options.other || search->used_count > 0 || search->used_other)
        return find_own_baseline(search);
    search->used_other = true;
    struct argus_error *error =
        diagnoser_find_baseline(search->d, search->vertex, &similar, &graph);
    if (error || graph != search->d->options.other)
        return error ? error : find_own_baseline(search);
    if (search->d->baseline == ARGUS_NONE || search->vertex == search->d->hang.vertex) {
        search->d->baseline = similar.vertex;
        search->d->baseline_graph = graph;
    }
    search->again = true;
    return add_expected_path(search, graph, similar.vertex);
}

struct argus_error *diagnoser_note_baseline(struct diagnoser *d)
{
    const struct argus_graph *graph;
    struct argus_similar similar;
    if (d->baseline != ARGUS_NONE || d->stopped)
        return NULL;
    struct argus_error *error = diagnoser_find_baseline(d, d->hang.vertex, &similar, &graph);
    if (!error && graph) {
        d->baseline = similar.vertex;
        d->baseline_graph = graph;
    }
    return error;
}
