/* What is in a trace of Darwin, besides its tables: read from all of its records. */
#ifndef ARGUS_CONTENTS_H
#define ARGUS_CONTENTS_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_SPAWN_NAMES 4

/* A process that began in the trace. */
struct argus_spawn {
    uint64_t pid, parent_pid;          /* parent 0: not known */
    char names[ARGUS_SPAWN_NAMES][33]; /* the programs that it became, by exec, in order */
    size_t name_count;                 /* all of them, also those that have no room */
};

struct argus_contents {
    uint64_t user_stacks, kernel_stacks; /* call stacks that are complete */
    uint64_t images, shared_caches;      /* that dyld tells of */
    struct argus_spawn *spawns;          /* owned; in the order of their beginnings */
    size_t spawn_count;
};

/* Reads all records of `trace`. Of a trace that is not Darwin's nothing is counted. */
struct argus_error *argus_contents_read(const struct argus_trace *trace, argus_progress progress,
                                        void *context, struct argus_contents *ret);
void argus_contents_deinit(struct argus_contents *contents);

#ifdef __cplusplus
}
#endif
#endif
