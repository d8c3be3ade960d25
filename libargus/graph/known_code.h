/* Cuts call stacks where they leave code.
 *
 * In code without frame pointers, following them leads to nonsense: to data, or to an unmapped
 * address. Copied stacks are unwound and checked when a recording ends, but short waits only have
 * what the frame pointers gave. A return address lies in an executable mapping, and the trace has
 * all of these, also anonymous ones (from perf_event and /proc/PID/maps). So a stack ends before
 * the first address outside of all mappings. Instructions of an interpreter, which are data, are
 * exempt (ARGUS_CHUNK_CODE).
 */
#ifndef ARGUS_GRAPH_KNOWN_CODE_H
#define ARGUS_GRAPH_KNOWN_CODE_H

#include "event/images.h"
#include "graph/graph_data.h"

/* How many of the first frames of `stack` are code of `process` at `time_ns`, or marks that say why
 * the stack ends. If the trace does not know the innermost frame either, all frames count. */
uint32_t known_code(const struct images *images, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack);

/* Cuts the user stacks of all vertices, edges and samples. A stack is checked at its first use. */
struct argus_error *graph_keep_code(struct argus_graph *graph);

#endif
