/* Backward slicing: two walks over the graph.
 *
 * argus_slice() is the paper's InteractiveSlice: it follows the causes of a vertex and asks where
 * the graph is ambiguous. argus_account() explains a period of one thread's time without questions:
 * every moment of the period belongs to exactly one vertex (which ran, wanted a CPU, or waited). It
 * follows each wait to the thread that ended it, and never leaves the window of the wait that it
 * explains (DESIGN section 7, "Bounded").
 */
#ifndef ARGUS_SLICE_H
#define ARGUS_SLICE_H

#include "argus/graph.h"
#include "argus/question.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_SLICE_OTHERS 4

/* Why an edge was followed. */
enum argus_step_reason {
    ARGUS_STEP_FIRST,     /* none was: the step begins the slice */
    ARGUS_STEP_CONTINUES, /* the vertex continues what the previous one of its thread began */
    ARGUS_STEP_ONLY,      /* it is the only known cause */
    ARGUS_STEP_ANSWER,    /* chosen by the answer to a question */
};

/* One step of a slice: `vertex`, reached backward along `edge` (ARGUS_NONE for the first step). */
struct argus_step {
    uint32_t vertex;
    uint32_t edge;
    uint32_t alternatives; /* how many other causes of this vertex were not followed … */
    /* … and the best of their edges, best first; the rest is ARGUS_NONE */
    uint32_t others[ARGUS_SLICE_OTHERS];
    enum argus_step_reason why;
    uint64_t explains_ns; /* how much of the window this vertex covers */
    uint64_t waited_ns;   /* the wait in the previous step's vertex that `edge` ended; 0: none */
    uint64_t explains_wait_ns; /* how much of that wait this vertex worked until `edge` */
};

enum argus_slice_end {
    ARGUS_SLICE_NO_CAUSE, /* no cause: first vertex of a thread, or a device or unknown cause */
    ARGUS_SLICE_WINDOW,   /* the window's beginning was reached */
    ARGUS_SLICE_STOPPED,  /* by the answer to a question */
    ARGUS_SLICE_CYCLE,    /* returned to a vertex that is already on the path */
    ARGUS_SLICE_HOME,     /* an event loop's wait for input: the input is the origin */
    ARGUS_SLICE_OPEN,     /* a question could not be answered */
    ARGUS_SLICE_LIMIT,    /* the path reached its maximum length */
    ARGUS_SLICE_INPUT,    /* a UI event, e.g. a button press: the user's action is the origin */
};

struct argus_slice {
    struct argus_step *steps; /* owned */
    size_t step_count;
    struct argus_asked *asked; /* owned */
    size_t asked_count;
    enum argus_slice_end end;
};

struct argus_slice_options {
    uint64_t from_ns; /* causes before this are not followed; 0: no bound */
    size_t max_steps; /* 0: 1000 */
    /* end at the user's action, and continue from the middle of a callback to its beginning */
    bool to_input;
};

/* Slices backward from `vertex`. If a question is open, `*ret` is still filled (end
 * ARGUS_SLICE_OPEN, the open one last in `asked`) and the error is ARGUS_ERROR_QUESTION. Call
 * argus_slice_deinit() in both cases. */
struct argus_error *argus_slice(const struct argus_graph *graph, uint32_t vertex,
                                const struct argus_slice_options *options, struct argus_asker asker,
                                struct argus_slice *ret);
void argus_slice_deinit(struct argus_slice *slice);

enum argus_stretch_state {
    ARGUS_STRETCH_RUNNING,
    ARGUS_STRETCH_RUNNABLE, /* wanted a CPU */
    /* the wait after the vertex, ended by a timer, a device, or an unknown cause */
    ARGUS_STRETCH_WAITING,
    ARGUS_STRETCH_UNKNOWN, /* records are missing */
};

/* [start_ns, end_ns) belongs to `vertex`. */
struct argus_stretch {
    uint64_t start_ns, end_ns;
    uint32_t vertex;
    /* edge by which the walk came from the vertex that it explains; ARGUS_NONE for the explained
     * thread itself */
    uint32_t edge;
    uint32_t link;  /* index into the account's links: how the walk got here */
    uint16_t depth; /* how many waits deep */
    uint8_t state;  /* enum argus_stretch_state */
};

/* The walk went from `parent` along `edge` into another thread (ARGUS_NONE: the explained thread
 * itself). */
struct argus_link {
    uint32_t edge;
    uint32_t parent; /* index of a link, ARGUS_NONE for the first */
};

struct argus_account {
    /* owned; in time order, without gap or overlap, covering the window exactly */
    struct argus_stretch *stretches;
    size_t count;
    struct argus_link *links; /* owned */
    size_t link_count;
};

/* Accounts for [from_ns, to_ns) of `thread`. */
struct argus_error *argus_account(const struct argus_graph *graph, uint32_t thread,
                                  uint64_t from_ns, uint64_t to_ns, struct argus_account *ret);
void argus_account_deinit(struct argus_account *account);

#ifdef __cplusplus
}
#endif
#endif
