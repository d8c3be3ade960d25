#include "context/charges.h"

#include <stdlib.h>
#include <string.h>

#include "context/contexts_data.h"

/* Prefixes of the names of files that work on behalf of their callers. To add one: a row. */
static const char *const servants[] = {"libc.so", "libc-2", "libpthread", "ld-linux",
                                       "ld-2",    "librt.", "[vdso]"};

bool charges_is_servant(const struct argus_context_function *function)
{
    const char *name = contexts_base_name(function->image);
    if (function->layer == ARGUS_LAYER_KERNEL)
        return true;
    for (size_t i = 0; i < sizeof(servants) / sizeof(servants[0]); i++)
        if (strncmp(name, servants[i], strlen(servants[i])) == 0)
            return true;
    return false;
}

uint32_t charged_node(const struct argus_contexts *contexts, uint32_t node)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    for (uint32_t at = node; nodes[at].depth >= INFERENCE_FIRST_DEPTH; at = nodes[at].parent)
        if (!charges_is_servant(&functions[nodes[at].function]))
            return at;
    return node;
}

uint32_t charged_of_path(const struct argus_contexts *contexts,
                         const struct argus_ranked_path *path)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    bool is_kernel = functions[nodes[path->bottleneck].function].layer == ARGUS_LAYER_KERNEL;
    bool has_callers = path->ways > 1 && !path->has_one_caller;
    return has_callers && !is_kernel ? path->bottleneck : charged_node(contexts, path->bottleneck);
}

uint32_t charged_script(const struct argus_contexts *contexts, uint32_t charged)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    uint32_t found = ARGUS_NONE;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    if (functions[nodes[charged].function].is_script)
        return ARGUS_NONE;
    for (uint32_t at = charged; nodes[at].depth >= INFERENCE_FIRST_DEPTH; at = nodes[at].parent) {
        const struct argus_context_function *function = &functions[nodes[at].function];
        bool is_library = argus_source_is_library(function->image);
        if (!function->is_script || (found != ARGUS_NONE && is_library))
            continue;
        found = at;
        if (!is_library)
            break;
    }
    return found;
}

static int by_cost(const void *left, const void *right)
{
    const struct charge *a = left, *b = right;
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    return strcmp(a->image, b->image);
}

/* The charge of a file. Image paths are interned, so they are compared by address. */
static struct charge *charge_of(struct charges *charges, struct idmap *places,
                                const struct argus_context_function *function)
{
    uint32_t place = idmap_get(places, (uintptr_t)function->image);
    if (place == IDMAP_NONE) {
        place = (uint32_t)charges->file_count;
        if (!idmap_put(places, (uintptr_t)function->image, place))
            return NULL;
        charges->files[charges->file_count++] =
            (struct charge){.image = function->image, .layer = function->layer};
    }
    return &charges->files[place];
}

struct argus_error *charges_create(const struct argus_contexts_report *report, struct charges *ret)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    size_t function_count = argus_contexts_functions(report->contexts, &functions);
    struct idmap places = {0};
    *ret = (struct charges){.files = calloc(function_count + 1, sizeof(*ret->files))};
    bool good = ret->files != NULL;
    for (size_t i = 0; good && i < count; i++) {
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH)
            continue;
        double cost = report->ranking->costs[i];
        const struct argus_context_function *charged =
            &functions[nodes[charged_node(report->contexts, (uint32_t)i)].function];
        struct charge *charge = charge_of(ret, &places, charged);
        good = charge != NULL;
        ret->layers[functions[nodes[i].function].layer] += cost;
        ret->charged_layers[charged->layer] += cost;
        if (charge)
            charge->cost_ns += cost;
    }
    idmap_deinit(&places);
    if (!good) {
        charges_deinit(ret);
        return argus_error_memory();
    }
    qsort(ret->files, ret->file_count, sizeof(*ret->files), by_cost);
    return NULL;
}

void charges_deinit(struct charges *charges)
{
    free(charges->files);
    charges->files = NULL;
}
