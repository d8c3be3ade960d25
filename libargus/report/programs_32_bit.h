/* 32-bit programs on a 64-bit system: which of them an answer is about, and what is not known of
 * them. */
#ifndef ARGUS_REPORT_PROGRAMS_32_BIT_H
#define ARGUS_REPORT_PROGRAMS_32_BIT_H

#include "argus/graph.h"
#include "base/vec.h"
#include "report/json.h"

/* Begin with programs_32_bit_init(). */
struct programs_32_bit {
    const struct argus_graph *graph; /* borrowed */
    VEC(uint64_t) pids;              /* of all 32-bit processes of the trace */
    /* those in the answer: indexes, in the order in which they were touched */
    VEC(uint32_t) processes;
};

void programs_32_bit_init(struct programs_32_bit *programs, const struct argus_graph *graph);
void programs_32_bit_deinit(struct programs_32_bit *programs);

/* Notes that the answer is about this process. Ignored if it is not a 32-bit program; ARGUS_NONE is
 * allowed. */
void programs_32_bit_touch(struct programs_32_bit *programs, uint32_t process);
void programs_32_bit_touch_vertex(struct programs_32_bit *programs, uint32_t vertex);

/* Prints a note under a heading; nothing if the answer is about no such program. */
void programs_32_bit_print(const struct programs_32_bit *programs, const struct argus_sink *sink);
/* A list of objects: process, pid, unknown (list of sentences). NULL without memory. */
json_t *programs_32_bit_json(const struct programs_32_bit *programs);

#endif
