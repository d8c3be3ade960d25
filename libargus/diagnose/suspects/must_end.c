/* Whether a suspect should have ended a wait although it did nothing unusual, or waited in many
 * pieces, none of which is half of the wait: a child, for which its parent waits whatever it does
 * and wherever it rests; or the thread that ended the wait when it came back to its loop. */
#include "base/overlap.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/suspects/suspect_search.h"

#define AT_HOME_PERCENT 5u /* of a window: then a thread came back to its loop */

/* Whether a thread whose home wait is known did not come back to it in the window, but for a
 * moment. */
static bool was_away(const struct view *view, uint32_t thread, struct window window)
{
    struct habits habits;
    uint64_t home_ns = 0;
    bool has_home = false, known = habits_find(view, thread, &habits);
    for (size_t i = 0; known && i < habits.items.length; i++)
        has_home |= habits.items.data[i].home;
    uint32_t v = has_home ? timeline_before(view, thread, window.start_ns + 1) : ARGUS_NONE;
    for (; v != ARGUS_NONE && view->vertices[v].start_ns < window.end_ns;
         v = timeline_next(view, v)) {
        const struct habit *habit = habits_of(&habits, &view->vertices[v]);
        if (habit && habit->home)
            home_ns += overlap_ns(window.start_ns, window.end_ns, view->vertices[v].end_ns,
                                  timeline_wait_end(view, v));
    }
    habits_deinit(&habits);
    return has_home && home_ns < window_ns(window) / 100 * AT_HOME_PERCENT;
}

void suspect_note_duty(const struct suspect_search *search, const struct suspect *suspect,
                       struct window window, struct examined *examined)
{
    const struct view *view = &search->d->view;
    bool is_child = view->vertices[search->vertex].wait.kind == ARGUS_WAIT_CHILD;
    bool came_late = suspect->why == ARGUS_REASON_ENDED_LATER && examined->in_pieces &&
                     was_away(view, suspect->thread, window);
    examined->abnormal |= is_child || came_late;
    examined->idle &= !is_child;
}
