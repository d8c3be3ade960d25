/* What a trace of Darwin contains besides its tables; all of its records are read for it. */
#ifndef ARGUS_CONTENTS_H
#define ARGUS_CONTENTS_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_SPAWN_NAMES 4

/* A process that began in the trace. */
struct argus_spawn {
    uint64_t pid, parent_pid;          /* parent 0: unknown */
    char names[ARGUS_SPAWN_NAMES][33]; /* the programs that it became by exec, in order */
    /* number of programs, including those for which `names` has no room */
    size_t name_count;
};

struct argus_contents {
    uint64_t user_stacks, kernel_stacks; /* complete call stacks */
    uint64_t images, shared_caches;      /* as reported by dyld */
    struct argus_spawn *spawns;          /* owned; in the order of their beginnings */
    size_t spawn_count;
};

/* Reads all records of `trace`. For a trace that is not Darwin's, all counts are 0. */
struct argus_error *argus_contents_read(const struct argus_trace *trace, argus_progress progress,
                                        void *context, struct argus_contents *ret);
void argus_contents_deinit(struct argus_contents *contents);

#ifdef __cplusplus
}
#endif
#endif
