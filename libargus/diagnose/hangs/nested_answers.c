/* Nested loops that wait for an answer and not for the user: they take whatever comes, so nothing
 * is pending, and yet the handler does not continue before the answer (late_answer.c). */
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/nesting.h"

/* Waits that are looked at before the loop is left: an answer may come in parts. */
#define MOST_ENDS 8
/* Vertices that are looked at for all places together, one or two seconds: a hostile trace can have
 * thousands of places. */
#define MOST_LOOKED 50000000ull

/* The search at one place. */
struct nested {
    struct finder *finder;
    const struct habits *habits;
    const struct habit *place;
    uint64_t from_ns;     /* when the thread came back from an enclosing loop */
    uint32_t first, last; /* its waits at this place since then */
};

static bool is_around(const struct nested *nested, const struct habit *habit)
{
    bool is_loop =
        habit->kind == ARGUS_WAIT_POLL || habit->loop || habits_share_source(habit, nested->place);
    return is_loop && habit->home && habit_is_clear(nested->habits->graph, habit->user_stack) &&
           habit_depth(nested->habits, habit) < habit_depth(nested->habits, nested->place);
}

/* The wait that ended with the answer to a request sent before the first wait, if that took most of
 * the time. */
static uint32_t find_answered(const struct nested *nested, uint64_t stretch_ns)
{
    const struct view *view = nested->finder->view;
    uint32_t v = nested->last;
    for (int i = 0; i < MOST_ENDS && v != ARGUS_NONE && v >= nested->first;) {
        if (habits_of(nested->habits, &view->vertices[v]) == nested->place) {
            uint64_t asked_ns = answer_asked_ns(view, v, nested->from_ns);
            if (asked_ns <= view->vertices[nested->first].end_ns &&
                timeline_wait_end(view, v) - asked_ns >= stretch_ns / 2)
                return v;
            i++;
        }
        v = argus_graph_previous(view->graph, v);
    }
    return ARGUS_NONE;
}

static bool is_found(const struct finder *finder, const struct argus_hang *hang)
{
    for (size_t i = 0; i < finder->found.length; i++) {
        const struct argus_hang *other = &finder->found.data[i];
        if (other->thread == hang->thread && other->start_ns < hang->end_ns &&
            hang->start_ns < other->end_ns)
            return true;
    }
    return false;
}

/* Called when the thread is back in an enclosing loop. */
static bool add(const struct nested *nested, uint64_t back_ns)
{
    const struct view *view = nested->finder->view;
    struct argus_hang hang = {.start_ns = nested->from_ns,
                              .end_ns = back_ns,
                              .thread = view->vertices[nested->first].thread,
                              .indicator = ARGUS_INDICATOR_EVENT_LOOP};
    if (back_ns - nested->from_ns < finder_threshold(nested->finder, &hang) ||
        is_found(nested->finder, &hang))
        return true;
    hang.vertex = find_answered(nested, back_ns - nested->from_ns);
    if (hang.vertex == ARGUS_NONE)
        return true;
    hang_measure(view, &hang);
    return hang_is_unnoticed(nested->finder, nested->habits, &hang, true) ||
           finder_add(nested->finder, &hang);
}

static bool scan_place(struct nested *nested, uint32_t thread)
{
    const struct view *view = nested->finder->view;
    const struct argus_thread *t = &view->threads[thread];
    bool done = true;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(nested->habits, &view->vertices[v]);
        if (habit == nested->place && nested->from_ns) {
            nested->first = nested->first == ARGUS_NONE ? v : nested->first;
            nested->last = v;
        } else if (habit && is_around(nested, habit)) {
            if (nested->first != ARGUS_NONE)
                done = add(nested, view->vertices[v].end_ns);
            nested->first = ARGUS_NONE;
            nested->from_ns = timeline_wait_end(view, v);
        }
    }
    return done;
}

bool nested_answers(struct finder *finder, const struct habits *habits, uint32_t thread)
{
    bool done = true;
    uint64_t looked = 0;
    for (size_t i = 0; done && i < habits->items.length && looked < MOST_LOOKED; i++) {
        struct nested nested = {.finder = finder,
                                .habits = habits,
                                .place = &habits->items.data[i],
                                .first = ARGUS_NONE};
        if (!nested.place->serves || nested.place->nested)
            continue;
        done = scan_place(&nested, thread);
        looked += finder->view->threads[thread].vertex_count;
    }
    return done;
}
