/* The baseline: the path that ended a similar wait which went well, and whose threads should have ended this one.
 *
 * A wait for many things can be ended by each, so there may be one normal case for each thread that ended such waits. Where
 * several are about as similar a person is asked which is meant. When nobody on the path of the chosen one did anything
 * unusual, the others are offered: all that are confirmed are used.
 */
#include <stdio.h>

#include "diagnose/lookout.h"

/* A baseline with so much of the best one's score is as good as it. */
#define NEAR_SCORE   0.9
#define MIN_BASELINE 0.5

static bool is_used(const struct lookout *l, uint32_t waker)
{
    for (size_t i = 0; i < l->used_count; i++)
        if (l->used[i] == waker)
            return true;
    return false;
}

/* The candidates: the best one for each thread that ended such a wait, the best first. */
static size_t pick_options(const struct lookout *l, const struct argus_similars *similars,
                           const struct argus_similar **ret)
{
    const struct view *view = &l->d->view;
    size_t count = 0;
    for (size_t i = 0; i < similars->count && count < MAX_BASELINES; i++) {
        const struct argus_similar *similar = &similars->items[i];
        uint32_t waker = waker_thread(view, similar->vertex);
        if (!similar->different_outcome || similar->score < MIN_BASELINE || waker == ARGUS_NONE ||
            waker == view->vertices[l->vertex].thread)
            continue;
        bool known = is_used(l, waker);
        for (size_t j = 0; j < count; j++)
            known |= waker_thread(view, ret[j]->vertex) == waker;
        if (!known)
            ret[count++] = similar;
    }
    return count;
}

/* How many of the candidates are so good that a person should choose. */
static size_t count_near(const struct argus_similar *const *options, size_t count)
{
    size_t near = 0;
    while (near < count && options[near]->score >= NEAR_SCORE * options[0]->score)
        near++;
    return near;
}

/* Asks which of `similars` is meant. The last option, in a second round, is that none is: `*ret` is ARGUS_NONE then. */
static struct argus_error *ask_baseline(struct lookout *l, const struct argus_similar **similars,
                                        size_t count, uint32_t *ret)
{
    const struct view *view = &l->d->view;
    char texts[MAX_BASELINES][320], text[128];
    struct argus_option options[MAX_BASELINES + 1];
    bool more = l->used_count > 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t waker = waker_thread(view, similars[i]->vertex);
        snprintf(texts[i], sizeof(texts[i]), "v%u, whose wait %s ended (%s)", similars[i]->vertex,
                 view->processes[view->threads[waker].process].name, similars[i]->why);
        options[i] = (struct argus_option){.text = texts[i], .vertex = similars[i]->vertex};
    }
    options[count] = (struct argus_option){.text = "none of these", .vertex = ARGUS_NONE};
    snprintf(
        text, sizeof(text),
        more ? "Nobody did anything unusual on that path. Which of these is normal for v%u, too?"
             : "Which of these is what v%u normally looks like?",
        l->vertex);
    struct argus_question question = {.kind = ARGUS_QUESTION_BASELINE,
                                      .text = text,
                                      .options = options,
                                      .option_count = count + more,
                                      .default_reason = "it is the most similar one"};
    int answer;
    struct argus_error *error = ask(&l->d->questions, &question, &answer);
    if (error)
        return error;
    l->d->stopped = answer == ARGUS_ANSWER_STOP;
    *ret = l->d->stopped ? ARGUS_NONE : options[answer].vertex;
    return NULL;
}

/* The threads of the path that ended the baseline's wait, the nearest first. Its own questions are answered by their
 * defaults: what matters here is who took part, and whoever did nothing unusual is passed over anyhow. */
static struct argus_error *add_expected_path(struct lookout *l, uint32_t baseline)
{
    const struct view *view = &l->d->view;
    uint32_t next = timeline_next(view, baseline);
    struct argus_slice_options options = {.from_ns = view->vertices[baseline].end_ns};
    struct argus_slice slice;
    if (next == ARGUS_NONE)
        return NULL;
    struct argus_error *error =
        argus_slice(view->graph, next, &options, argus_asker_auto(), &slice);
    if (error)
        return error;
    bool good = true;
    for (size_t i = 1; good && i < slice.step_count; i++)
        good = add_suspect(l, view->vertices[slice.steps[i].vertex].thread,
                           "it took part in ending a similar wait");
    argus_slice_deinit(&slice);
    return good ? NULL : argus_error_memory();
}

/* Remembers that the normal case `baseline` has been used. The answer's baseline is the last one of the hung thread's wait. */
static void use_baseline(struct lookout *l, uint32_t baseline)
{
    l->used[l->used_count++] = waker_thread(&l->d->view, baseline);
    if (l->d->baseline == ARGUS_NONE || l->vertex == l->d->hang.vertex)
        l->d->baseline = baseline;
}

struct argus_error *find_baseline(struct lookout *l)
{
    struct argus_similars similars;
    const struct argus_similar *options[MAX_BASELINES];
    struct argus_error *error = argus_similar_find(l->d->view.graph, l->vertex, 0, &similars);
    if (error)
        return error;
    size_t count = pick_options(l, &similars, options), near = count_near(options, count);
    uint32_t baseline = count > 0 ? options[0]->vertex : ARGUS_NONE;
    if (near > 1 || (count > 0 && l->used_count > 0))
        error = ask_baseline(l, options, near, &baseline);
    if (!error && baseline != ARGUS_NONE) {
        use_baseline(l, baseline);
        l->again = count > 1 && l->used_count < MAX_BASELINES;
        error = add_expected_path(l, baseline);
    }
    argus_similars_deinit(&similars);
    return error;
}
