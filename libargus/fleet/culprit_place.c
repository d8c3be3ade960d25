#include "fleet/culprit_place.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/words.h"
#include "fleet/fleet_names.h"
#include "slice/timeline.h"

static void set_place(struct culprit_place *ret, const char *function, const char *path)
{
    fleet_function_name(function, ret->function, sizeof(ret->function));
    fleet_image_name(path, ret->image, sizeof(ret->image));
    snprintf(ret->path, sizeof(ret->path), "%s", path ? path : "");
}

/* Frames further out are the same for every wait. */
enum { MOST_FRAMES = 4 };

/* Takes the first function with a name outside the base libraries. Functions that were inlined have
 * no part in it, because only debug information names them. Without such a function, `ret` has the
 * innermost file alone. */
static void find_in_stack(const struct argus_report_context *context, uint32_t vertex,
                          uint32_t stack, struct culprit_place *ret)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    uint32_t process = view.threads[v->thread].process, looked_at = 0;
    struct argus_stack frames = argus_graph_stack(context->graph, stack);
    for (uint32_t i = 0; context->symbols && i < frames.count && looked_at < MOST_FRAMES; i++) {
        uint64_t address = frames.frames[i];
        if (address < ARGUS_FRAME_ENDS)
            break;
        const char *image =
            argus_symbols_image(context->symbols, process, v->end_ns, address, i > 0);
        const char *function =
            argus_symbols_function(context->symbols, process, v->end_ns, address, i > 0);
        if (image ? is_base_library(image) : !function)
            continue;
        if (!looked_at++ || function)
            set_place(ret, function, image);
        if (ret->function[0])
            break;
    }
}

void culprit_place_of_wait(const struct argus_report_context *context, uint32_t vertex,
                           uint32_t stack, struct culprit_place *ret)
{
    struct view view = view_of(context->graph);
    const struct argus_wait *wait = &view.vertices[vertex].wait;
    char name[64];
    *ret = (struct culprit_place){.function = ""};
    if (stack != ARGUS_NONE)
        find_in_stack(context, vertex, stack, ret);
    if (!ret->function[0] && wait->kind != ARGUS_WAIT_NONE && wait->syscall != ARGUS_NO_SYSCALL)
        fleet_function_name(argus_syscall_name(argus_graph_trace(context->graph), wait->syscall,
                                               name, sizeof(name)),
                            ret->function, sizeof(ret->function));
}

bool culprit_lacks_cpu(const struct argus_graph *graph, const struct argus_culprit *culprit)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    const struct argus_vertex *v = &vertices[culprit->vertex];
    if (culprit->type != ARGUS_TYPE_LONG_RUNNING || culprit->lack >= ARGUS_CPU_TOOK)
        return false;
    return culprit->lack >= ARGUS_CPU_QUOTA || v->runnable_ns / 4 > v->run_ns;
}

void culprit_place_find(const struct argus_report_context *context,
                        const struct argus_culprit *culprit, struct culprit_place *ret)
{
    if (culprit->type == ARGUS_TYPE_LONG_WAIT) {
        culprit_place_of_wait(context, culprit->vertex, culprit->stack, ret);
        return;
    }
    *ret = (struct culprit_place){.function = ""};
    if (!culprit->function_count || culprit_lacks_cpu(context->graph, culprit))
        return;
    const char *function =
        culprit->code_function ? culprit->code_function : culprit->functions[0].name;
    set_place(ret, function, culprit->functions[0].image);
}
