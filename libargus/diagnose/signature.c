/* Hangs are compared by a number, so that of many files those with different hangs are kept. Names
 * of functions are the same in each run of a program; addresses are not. Inlined functions have no
 * part in it, because only debug information names them, which one of two files may lack. */
#include <string.h>

#include "base/hash64.h"
#include "diagnose/diagnoser.h"
#include "diagnose/words.h"

/* Callers further out are the same for every handler, and recursion makes their number vary. */
#define MOST_FRAMES 4

static uint64_t add_text(uint64_t hash, const char *text)
{
    return hash64(hash, text, strlen(text) + 1);
}

/* Adds the innermost functions outside the libraries that every program has. */
static uint64_t add_stack(uint64_t hash, const struct view *view, struct argus_symbols *symbols,
                          uint32_t vertex, uint32_t stack)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t process = view->threads[v->thread].process, added = 0;
    if (!symbols || stack == ARGUS_NONE)
        return hash;
    struct argus_stack frames = argus_graph_stack(view->graph, stack);
    for (uint32_t i = 0; i < frames.count && added < MOST_FRAMES; i++) {
        uint64_t address = frames.frames[i];
        if (address < ARGUS_FRAME_ENDS)
            break;
        const char *image = argus_symbols_image(symbols, process, v->end_ns, address, i > 0);
        const char *function = argus_symbols_function(symbols, process, v->end_ns, address, i > 0);
        if (image ? is_base_library(image) : !function)
            continue;
        hash = add_text(hash, function ? function : text_image(image));
        added++;
    }
    return hash;
}

static const char *busy_function(const struct argus_culprit *culprit)
{
    if (culprit->code_function)
        return culprit->code_function;
    return culprit->function_count > 0 ? culprit->functions[0].name : "0x";
}

/* Adds the function that was in nearly all samples of the frozen thread. */
static uint64_t add_busy(uint64_t hash, const struct view *view,
                         const struct argus_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->culprit_count; i++) {
        const struct argus_culprit *culprit = &diagnosis->culprits[i];
        if (view->vertices[culprit->vertex].thread == diagnosis->hang.thread &&
            strncmp(busy_function(culprit), "0x", 2) != 0)
            return add_text(hash, busy_function(culprit));
    }
    return hash;
}

uint64_t argus_hang_signature(const struct argus_graph *graph, struct argus_symbols *symbols,
                              const struct argus_diagnosis *diagnosis)
{
    struct view view = view_of(graph);
    const struct argus_hang *hang = &diagnosis->hang;
    const struct argus_wait *wait = &view.vertices[hang->vertex].wait;
    uint64_t hash = add_text(0, view.processes[view.threads[hang->thread].process].name);
    hash = add_text(hash, argus_vertex_type_name((enum argus_vertex_type)hang->type));
    if (hang->type == ARGUS_TYPE_LONG_RUNNING)
        return add_busy(hash, &view, diagnosis);
    hash = add_text(hash, argus_wait_kind_name((enum argus_wait_kind)wait->kind));
    return add_stack(hash, &view, symbols, hang->vertex, wait->user_stack);
}
