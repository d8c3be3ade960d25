/* Selects the threads and the period of time that the picture of a hang shows. */
#ifndef ARGUS_PAGE_LANES_H
#define ARGUS_PAGE_LANES_H

#include "page/html.h"

#define LANES_MOST 12

struct lanes {
    uint32_t threads[LANES_MOST]; /* the hang's thread first, then in the order of the path */
    size_t count;
    size_t left_out;         /* threads that took part in the hang but have no lane */
    struct html_scale scale; /* the hang, and a short time before and after it */
};

/* `diagnosis` NULL: only the hang's thread. */
struct argus_error *lanes_choose(const struct argus_graph *graph, const struct argus_hang *hang,
                                 const struct argus_diagnosis *diagnosis, struct lanes *ret);

/* The lane of a thread or vertex; -1: it has none. */
int lanes_of_thread(const struct lanes *lanes, uint32_t thread);
int lanes_of_vertex(const struct lanes *lanes, const struct argus_graph *graph, uint32_t vertex);

#endif
