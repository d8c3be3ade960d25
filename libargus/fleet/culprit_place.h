/* The function in which a hang or its root cause was, by names that do not change from build to
 * build. */
#ifndef ARGUS_FLEET_CULPRIT_PLACE_H
#define ARGUS_FLEET_CULPRIT_PLACE_H

#include "argus/report.h"

/* Each may be "". Without a name of a function, `image` is the place. */
struct culprit_place {
    char function[256]; /* fleet_function_name() */
    char image[128];    /* fleet_image_name() of the file with that function */
    char path[512];     /* the file's name or path as the trace has it */
};

/* The function with most of the culprit's samples; for a wait, culprit_place_of_wait(). */
void culprit_place_find(const struct argus_report_context *context,
                        const struct argus_culprit *culprit, struct culprit_place *ret);

/* Whether the culprit mostly wanted a CPU and had none. What it ran then says nothing. */
bool culprit_lacks_cpu(const struct argus_graph *graph, const struct argus_culprit *culprit);

/* The innermost function of `stack` outside the libraries that every program has; without such a
 * stack, the system call. `stack` may be ARGUS_NONE. */
void culprit_place_of_wait(const struct argus_report_context *context, uint32_t vertex,
                           uint32_t stack, struct culprit_place *ret);

#endif
