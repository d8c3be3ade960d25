/* The handlers of records: one function for each row of tracepoints.def, in on_*.c or rules/. */
#ifndef ARGUS_GRAPH_HANDLERS_H
#define ARGUS_GRAPH_HANDLERS_H

#include "graph/build/builder.h"
#include "graph/build/cpu_state.h"

/* cpu->thread is the record's thread. */
#define TRACEPOINT(symbol, ...)                                                                    \
    void graph_on_##symbol(struct builder *builder, struct cpu_state *cpu,                         \
                           const struct argus_record *record);
#include "event/tracepoints.def"
#undef TRACEPOINT
/* Handles the loss of records on the cpu. */
void graph_on_lost(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record);

#endif
