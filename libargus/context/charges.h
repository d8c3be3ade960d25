/* Summarizes costs by layer and by file. */
#ifndef ARGUS_CONTEXT_CHARGES_H
#define ARGUS_CONTEXT_CHARGES_H

#include "argus/contexts.h"

/* The cost of a file. */
struct charge {
    const char *image; /* borrowed */
    double cost_ns;
    uint8_t layer; /* enum argus_layer */
};

struct charges {
    double layers[ARGUS_LAYERS]; /* of the layer's own code */
    /* including the kernel's and the C library's work on its behalf */
    double charged_layers[ARGUS_LAYERS];
    struct charge *files; /* owned; including work on their behalf, the most expensive first */
    size_t file_count;
};

struct argus_error *charges_create(const struct argus_contexts_report *report, struct charges *ret);
void charges_deinit(struct charges *charges);

/* Whether it belongs to the kernel or the C library, which work on behalf of their callers. */
bool charges_is_servant(const struct argus_context_function *function);

/* The function that caused the cost of `node`: `node` itself or its nearest caller outside the
 * kernel and the C library; `node` if there is none. */
uint32_t charged_node(const struct argus_contexts *contexts, uint32_t node);
/* The same for a ranked path. If several ways lead to its bottleneck, from different functions,
 * that is the cause itself, unless it belongs to the kernel. */
uint32_t charged_of_path(const struct argus_contexts *contexts,
                         const struct argus_ranked_path *path);

/* The function of an interpreted program that called the function of node `charged`, preferably one
 * outside of that program's libraries; ARGUS_NONE: there is none, or `charged` is one itself. */
uint32_t charged_script(const struct argus_contexts *contexts, uint32_t charged);

#endif
