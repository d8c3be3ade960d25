/* Messages. A message by itself neither begins nor ends a vertex: what it does to the thread that receives it comes with
 * the wake-up. */
#include "graph/builder.h"

void graph_on_message(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    (void)builder;
    (void)cpu;
    (void)record;
}
