/* Functions that a program calls, or that are called on its behalf, when its main thread does not
 * fetch its events.
 *
 * On macOS an event thread of the program itself notices that events are not fetched and calls
 * CGSConnectionSetSpinning(), which makes the cursor spin (paper, section 5). The function is found
 * in the stacks of waits, wake-ups and samples of any thread of that process. Symbolizing is slow,
 * so only frames in the libraries below are looked up, each stack once, and none in a trace without
 * these libraries.
 */
#include <string.h>

#include "base/idmap.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/words.h"

/* To add a function: the beginnings of its name and of its library's file name. */
static const struct {
    const char *image, *function;
} marks[] = {
    {"SkyLight", "CGSConnectionSetSpinning"},
    {"SkyLight", "SLSConnectionSetSpinning"},
    {"CoreGraphics", "CGSConnectionSetSpinning"},
};

/* Within this time, several marks of one process are one sign. */
#define SIGN_EVERY_NS 1000000000ull

struct search {
    struct finder *finder;
    struct idmap marked; /* IDs of the processes that have one of the libraries mapped */
    struct idmap seen;   /* process and stack → whether the function is in it */
    uint32_t process;
    uint64_t last_ns; /* of the last sign; 0: none */
    bool no_memory;
};

static bool begins_with(const char *text, const char *beginning)
{
    return text && strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_marked_image(const char *path)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (begins_with(text_image(path), marks[i].image))
            return true;
    return false;
}

static bool is_mark(const struct argus_symbol *symbol)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (begins_with(text_image(symbol->image), marks[i].image) &&
            begins_with(symbol->function, marks[i].function))
            return true;
    return false;
}

/* Finds the processes that have one of the libraries mapped. A trace of a machine that compiles has
 * images of tens of thousands of processes, so the images are read once. */
static void find_marked(struct search *search)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(argus_graph_trace(search->finder->view->graph), &images);
    for (size_t i = 0; i < count && !search->no_memory; i++)
        if (is_marked_image(images[i].path))
            search->no_memory = !idmap_put(&search->marked, images[i].pid, 1);
}

static bool look_up(struct search *search, uint64_t time_ns, uint32_t stack)
{
    struct argus_stack frames = argus_graph_stack(search->finder->view->graph, stack);
    for (uint32_t i = 0; i < frames.count && frames.frames[i] >= ARGUS_FRAME_ENDS; i++) {
        struct argus_symbol symbol = argus_symbols_find(
            search->finder->options->symbols, search->process, time_ns, frames.frames[i], i > 0);
        if (is_mark(&symbol))
            return true;
    }
    return false;
}

static bool has_mark(struct search *search, uint64_t time_ns, uint32_t stack)
{
    if (stack == ARGUS_NONE)
        return false;
    uint64_t key = (uint64_t)search->process << 32 | stack;
    uint32_t known = idmap_get(&search->seen, key);
    if (known == IDMAP_NONE) {
        known = look_up(search, time_ns, stack);
        search->no_memory |= !idmap_put(&search->seen, key, known);
    }
    return known;
}

static void look_at(struct search *search, uint64_t time_ns, uint32_t stack)
{
    struct sign sign = {time_ns, search->process, ARGUS_INDICATOR_SPINNING_STACK};
    bool is_near =
        search->last_ns && time_ns >= search->last_ns && time_ns - search->last_ns < SIGN_EVERY_NS;
    if (is_near || !has_mark(search, time_ns, stack))
        return;
    search->last_ns = time_ns;
    search->no_memory |= !finder_add_sign(search->finder, &sign);
}

static void look_at_vertex(struct search *search, uint32_t vertex)
{
    const struct view *view = search->finder->view;
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_sample *samples;
    const uint32_t *out;
    size_t count = argus_graph_samples(view->graph, &samples);
    look_at(search, v->end_ns, v->wait.user_stack);
    for (uint32_t i = 0; i < v->sample_count && v->first_sample + i < count; i++)
        look_at(search, samples[v->first_sample + i].time_ns,
                samples[v->first_sample + i].user_stack);
    count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = 0; i < count; i++)
        look_at(search, view->edges[out[i]].from_ns, view->edges[out[i]].stack);
}

bool indicator_stack(struct finder *finder)
{
    struct search search = {.finder = finder};
    const struct view *view = finder->view;
    if (!finder->options->symbols)
        return true;
    find_marked(&search);
    for (uint32_t process = 0; search.marked.count && process < view->process_count; process++) {
        if (idmap_get(&search.marked, view->processes[process].pid) == IDMAP_NONE)
            continue;
        search.process = process;
        for (uint32_t thread = 0; thread < view->thread_count; thread++) {
            const struct argus_thread *t = &view->threads[thread];
            search.last_ns = 0;
            for (uint32_t i = 0; t->process == process && i < t->vertex_count; i++)
                look_at_vertex(&search, t->first_vertex + i);
        }
    }
    idmap_deinit(&search.marked);
    idmap_deinit(&search.seen);
    return !search.no_memory;
}
