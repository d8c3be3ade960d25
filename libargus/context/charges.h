/* Whose fault a cost is, at a glance: the sums by layer and by file. */
#ifndef ARGUS_CONTEXT_CHARGES_H
#define ARGUS_CONTEXT_CHARGES_H

#include "argus/contexts.h"

/* What a file is charged with. */
struct charge {
    const char *image; /* borrowed */
    double cost_ns;
    uint8_t layer; /* enum argus_layer */
};

struct charges {
    double layers[ARGUS_LAYERS]; /* the code's own */
    double charged_layers
        [ARGUS_LAYERS];   /* with that of the kernel and the C library which it called */
    struct charge *files; /* owned; charged, the dearest first */
    size_t file_count;
};

struct argus_error *charges_create(const struct argus_contexts_report *report, struct charges *ret);
void charges_deinit(struct charges *charges);

/* Whether it is the kernel's or the C library's: does what others ask it to. */
bool charges_is_servant(const struct argus_context_function *function);

/* The nearest function at or outside of `node` that is neither the kernel's nor the C library's: on whose behalf it is; `node`
 * itself where there is none. */
uint32_t charged_node(const struct argus_contexts *contexts, uint32_t node);

#endif
