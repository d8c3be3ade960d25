/* Handlers that run a loop until a reply comes which another process owes, and do not get it, or
 * until a command has ended.
 *
 * Such a loop is the toolkit's own and takes whatever comes, so nothing is pending, and it need not
 * be deeper than the home (searching.c). If the reply comes late, it shows what the loop waited for
 * (nested_answers.c). If it does not come, these show it together:
 *   - the thread was in another loop before;
 *   - before its first wait there, it sent a request, and a server handed it on to another process,
 *     which does not take it for as long as the thread waits there (handed_on.c);
 *   - the handler gives up: a time-out ends the last of the waits, while input ends a dialog. Or
 *     the trace ends. The thread may draw meanwhile, as browsers do. (Then a dialog that a
 *     handler opened after such a request counts, too; but the process that does not take the
 *     request is stuck.)
 *
 * Of a loop that waits for a command, these show it together:
 *   - the thread was in another loop before, and started the command before its first wait there;
 *   - the command, or a process that it started, ends the last of the waits, or lives still when
 *     the trace ends;
 *   - the thread sends nothing in return for what it takes meanwhile, such as keys. A dialog that
 *     shows what a command does draws. Without an end, the thread must have taken something.
 */
#include "diagnose/hangs/answered_waits.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/handed_on.h"
#include "diagnose/hangs/nesting.h"

/* A shorter visit is no hang. */
#define SHORTEST_NS 500000000ull

/* A visit to a place: consecutive waits there, and in deeper places, without a wait in another
 * loop. */
struct visit {
    uint32_t first, last; /* vertices that end in waits at the place */
    bool over;            /* the thread is in another loop afterwards */
    uint64_t from_ns;     /* when the thread came back from the other loop; 0: it was in none */
};

static bool is_clear_home(const struct habits *habits, const struct habit *habit)
{
    return habit->home && (habit->kind == ARGUS_WAIT_POLL || input_is_brought(habit)) &&
           habit_is_clear(habits->graph, habit->user_stack);
}

/* A place where the thread never rested is rather one of its waits for the display server's
 * replies. */
static bool is_loop(const struct habits *habits, const struct habit *habit)
{
    return habit && !habit->nested && is_clear_home(habits, habit) &&
           (habit->longest_ns >= SURELY_RESTING_NS || habit_rests(habit));
}

static bool takes_message(const struct view *view, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE)
            return true;
    return false;
}

static bool sends_message(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = 0; i < count; i++)
        if (view->edges[out[i]].message || view->edges[out[i]].kind == ARGUS_EDGE_MESSAGE)
            return true;
    return false;
}

/* Whether the thread took something in the visit, or nothing (`none`), and sent nothing before it
 * waited again. */
static bool only_takes(const struct view *view, const struct visit *visit, bool none)
{
    bool takes = false, sends = false, any = none;
    for (uint32_t v = visit->first + 1; v <= visit->last; v++) {
        takes |= takes_message(view, v);
        any |= takes;
        sends |= takes && sends_message(view, v);
        if (view->vertices[v].wait.kind == ARGUS_WAIT_NONE)
            continue;
        if (sends && !is_answered_wait(view, v))
            return false;
        takes = sends = false;
    }
    return any;
}

/* Whether a time-out of its own ended the visit. */
static bool gives_up(const struct view *view, const struct visit *visit)
{
    const struct argus_wait *wait = &view->vertices[visit->last].wait;
    return wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT;
}

static bool is_unanswered(const struct view *view, const struct visit *visit)
{
    struct handed_on handed;
    const struct argus_vertex *first = &view->vertices[visit->first];
    uint64_t end_ns = timeline_wait_end(view, visit->last);
    struct window asked = {visit->from_ns, first->end_ns};
    return visit->from_ns && end_ns - first->end_ns >= SHORTEST_NS &&
           (!visit->over || gives_up(view, visit)) &&
           handed_on_find(view, first->thread, asked, end_ns, &handed);
}

/* Whether a command, or what it started, ended the last wait of the visit; if the visit is not
 * over, whether the command lives still. */
static bool ends_with(const struct view *view, const struct visit *visit, uint32_t command)
{
    if (!visit->over)
        return view->processes[command].end_ns >= argus_graph_end_ns(view->graph);
    uint32_t next = timeline_next(view, visit->last);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return false;
    uint32_t process = view->threads[view->vertices[view->edges[cause].from].thread].process;
    return process == command || process_descends_from(view, process, command);
}

/* The command for which the thread waits in the visit, as a process; ARGUS_NONE. */
static uint32_t command_of(const struct view *view, const struct visit *visit)
{
    const struct argus_vertex *first = &view->vertices[visit->first];
    uint64_t pid = view->processes[view->threads[first->thread].process].pid;
    if (!visit->from_ns || timeline_wait_end(view, visit->last) - first->end_ns < SHORTEST_NS ||
        !only_takes(view, visit, visit->over))
        return ARGUS_NONE;
    for (uint32_t i = 0; i < view->process_count; i++) {
        const struct argus_process *process = &view->processes[i];
        if (process->parent_pid == pid && process->start_ns >= visit->from_ns &&
            process->start_ns < first->end_ns && ends_with(view, visit, i))
            return i;
    }
    return ARGUS_NONE;
}

/* Whether the thread waits outside handlers after its last visit, at a place that it has reached
 * too seldom before the trace ends to be known as a loop. */
static bool is_elsewhere(const struct view *view, const struct habits *habits,
                         const struct visit *visit)
{
    for (uint32_t v = timeline_next(view, visit->last); v != ARGUS_NONE;
         v = timeline_next(view, v)) {
        const struct habit *habit = habits_of(habits, &view->vertices[v]);
        if (habit && habit->kind == ARGUS_WAIT_POLL && !habit->nested && !habit->answers &&
            habit_is_clear(habits->graph, habit->user_stack))
            return true;
    }
    return false;
}

static bool is_awaiting(const struct view *view, const struct visit *visit)
{
    return is_unanswered(view, visit) || command_of(view, visit) != ARGUS_NONE;
}

/* Whether one of the visits to `place` waits for such a reply or a command. */
static bool has_unanswered(const struct view *view, uint32_t thread, const struct habits *habits,
                           const struct habit *place)
{
    const struct argus_thread *t = &view->threads[thread];
    struct visit visit = {.first = ARGUS_NONE};
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(habits, &view->vertices[v]);
        if (habit == place) {
            visit.first = visit.first == ARGUS_NONE ? v : visit.first;
            visit.last = v;
        } else if (is_loop(habits, habit)) {
            visit.over = true;
            if (visit.first != ARGUS_NONE && is_awaiting(view, &visit))
                return true;
            visit.first = ARGUS_NONE;
            visit.from_ns = timeline_wait_end(view, v);
        }
    }
    visit.over = visit.first != ARGUS_NONE && is_elsewhere(view, habits, &visit);
    return visit.first != ARGUS_NONE && is_awaiting(view, &visit);
}

void unanswered_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    size_t loops = 0;
    for (size_t i = 0; i < habits->items.length; i++)
        loops += is_loop(habits, &habits->items.data[i]);
    for (size_t i = 0; loops > 0 && i < habits->items.length; i++) {
        struct habit *place = &habits->items.data[i];
        bool has_other = place->nested || loops > 1;
        if (has_other && is_clear_home(habits, place) &&
            has_unanswered(view, thread, habits, place))
            place->nested = place->awaits = true;
    }
}

uint32_t command_awaited(const struct view *view, uint32_t vertex)
{
    struct habits habits;
    struct visit visit = {.first = ARGUS_NONE, .last = vertex};
    bool known = habits_find(view, view->vertices[vertex].thread, &habits);
    const struct habit *place = known ? habits_of(&habits, &view->vertices[vertex]) : NULL;
    for (uint32_t v = vertex; place && place->nested && v != ARGUS_NONE && !visit.from_ns;
         v = argus_graph_previous(view->graph, v)) {
        const struct habit *habit = habits_of(&habits, &view->vertices[v]);
        if (habit == place)
            visit.first = v;
        else if (is_loop(&habits, habit))
            visit.from_ns = timeline_wait_end(view, v);
    }
    uint32_t command = visit.first == ARGUS_NONE ? ARGUS_NONE : command_of(view, &visit);
    habits_deinit(&habits);
    return command;
}
