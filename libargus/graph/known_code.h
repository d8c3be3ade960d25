/* Stacks without what is no code.
 *
 * Frame pointers of code that has none lead to nonsense: to data, or to an address in no mapping. Copied stacks are unwound and checked
 * when a recording ends, but short waits have what the frame pointers gave. A return address lies in an
 * executable mapping, and the trace has all of these (perf_event and /proc/PID/maps tell them, those of no file too). So a stack ends
 * before the first address that lies in none, but for instructions of an interpreter, which are data (ARGUS_CHUNK_CODE). */
#ifndef ARGUS_GRAPH_KNOWN_CODE_H
#define ARGUS_GRAPH_KNOWN_CODE_H

#include "event/images.h"
#include "graph/graph_data.h"

/* So many of the first frames of `stack` are code of `process` at `time_ns`, or say why the stack ends; all of them where the trace does
 * not know the innermost one either. */
uint32_t known_code(const struct images *images, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack);

/* Ends the user stacks of all vertices, edges and samples there. A stack is looked at where it is used first. */
struct argus_error *graph_keep_code(struct argus_graph *graph);

#endif
