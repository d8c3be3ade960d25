/* Programs that draw frame by frame: they look for input, draw and sleep, with no poll in which
 * they rest (games, emulators, programs made with libraries for these). Such a loop asks the
 * display server something in some of its frames, and on a busy machine that answer takes a while,
 * so that its waits look like those of a handler.
 *
 * It is not frozen while it goes on so: it sleeps by its own clock, for a short time, again and
 * again, draws in most of its turns, and leaves nothing unread that the display server sends. What
 * other processes send is no matter: many such programs connect to a message bus and never read.
 * (A handler that waits for the clipboard sleeps and reads in the same way, but draws nothing.)
 */
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/vertex_deeds.h"

#define FEWEST_FRAMES 10
/* Between the ends of two frames' sleeps, on a busy machine. */
#define LONGEST_FRAME_NS 500000000ull

struct frames {
    const struct view *view;
    const struct argus_hang *hang;
    unsigned count, drawn; /* frames, and those in which the thread sent something to a display */
    uint64_t last_ns;      /* the end of the last frame's sleep */
    bool drew;             /* since then */
    bool goes_on;          /* no frame took too long, and nothing of the display stayed unread */
};

static bool is_sleep(const struct frames *frames, uint32_t vertex)
{
    const struct view *view = frames->view;
    return view->vertices[vertex].wait.kind == ARGUS_WAIT_SLEEP &&
           timeline_next(view, vertex) != ARGUS_NONE;
}

/* Whether the thread took something in `vertex` that a display server had sent long before. */
static bool takes_late(const struct frames *frames, uint32_t vertex)
{
    const struct view *view = frames->view;
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (edge_is_message(&edges[i]) && edges[i].to_ns - edges[i].from_ns > LONGEST_FRAME_NS &&
            thread_serves_display(view, view->vertices[edges[i].from].thread))
            return true;
    return false;
}

static void take_vertex(struct frames *frames, uint32_t vertex)
{
    const struct view *view = frames->view;
    uint64_t end_ns = timeline_wait_end(view, vertex);
    frames->drew |= vertex_sends_to_display(view, vertex);
    frames->goes_on &= !takes_late(frames, vertex);
    if (!is_sleep(frames, vertex) || end_ns > frames->hang->end_ns)
        return;
    frames->goes_on &= end_ns < frames->last_ns + LONGEST_FRAME_NS;
    frames->count++;
    frames->drawn += frames->drew;
    frames->drew = false;
    frames->last_ns = end_ns;
}

bool hang_draws_frames(const struct view *view, const struct argus_hang *hang)
{
    struct frames frames = {.view = view, .hang = hang, .last_ns = hang->start_ns, .goes_on = true};
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    if (v == ARGUS_NONE)
        v = view->threads[hang->thread].first_vertex;
    for (; v != ARGUS_NONE && frames.goes_on && view->vertices[v].start_ns < hang->end_ns;
         v = timeline_next(view, v))
        if (timeline_wait_end(view, v) > hang->start_ns)
            take_vertex(&frames, v);
    return frames.goes_on && frames.count >= FEWEST_FRAMES &&
           frames.drawn >= frames.count - frames.count / 4 &&
           frames.last_ns + LONGEST_FRAME_NS > hang->end_ns &&
           !thread_leaves_display_unread(view, hang->thread, 0, hang->end_ns - LONGEST_FRAME_NS);
}
