/* The paths that system calls of Darwin look up: looked_up.c. */
#ifndef ARGUS_GRAPH_LOOKED_UP_H
#define ARGUS_GRAPH_LOOKED_UP_H

#include "argus/record.h"

struct builder;
struct cpu_state;

/* The state of this feature: the last path of each thread. */
struct lookups *lookups_create(void);
void lookups_destroy(struct lookups *lookups);

void looked_up_note(struct builder *builder, const struct cpu_state *cpu,
                    const struct argus_record *record);
/* `thread` begins another call; it begins to wait in one. */
void looked_up_call_begins(struct builder *builder, uint32_t thread);
void looked_up_wait_begins(struct builder *builder, uint32_t thread);

#endif
