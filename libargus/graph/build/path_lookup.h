/* The paths that Darwin's system calls look up: path_lookup.c. */
#ifndef ARGUS_GRAPH_PATH_LOOKUP_H
#define ARGUS_GRAPH_PATH_LOOKUP_H

#include "argus/record.h"

struct builder;
struct cpu_state;

/* The state of this feature: the latest path of each thread. */
struct path_lookups *path_lookups_create(void);
void path_lookups_destroy(struct path_lookups *lookups);

void path_lookup_note(struct builder *builder, const struct cpu_state *cpu,
                      const struct argus_record *record);
/* `thread` enters another system call, or begins to wait in one. */
void path_lookup_call_begins(struct builder *builder, uint32_t thread);
void path_lookup_wait_begins(struct builder *builder, uint32_t thread);

#endif
