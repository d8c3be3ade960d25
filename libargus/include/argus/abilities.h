/* Which parts of the event graph can be built from a trace of Darwin. macOS does not write every
 * kind of record everywhere, and the reader of a graph has to know which edges it cannot contain.
 * The table is libargus/event/abilities.def.
 */
#ifndef ARGUS_ABILITIES_H
#define ARGUS_ABILITIES_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of record. */
struct argus_source {
    const char *text; /* "wake-ups (MACH_MKRUNNABLE)"; static, as all texts here */
    uint64_t count;   /* records of the trace */
};

/* Whether some graph rules work on this trace. */
struct argus_ability {
    const char *rules; /* graph rules: "wake.condition, wake.unlock, wake.parked" */
    const char *how;   /* "yes", "guessed: …"; NULL: the rules cannot work on this trace */
    /* the kind of record whose absence makes the rules impossible or a guess; NULL: none */
    const char *missing;
};

struct argus_abilities {
    struct argus_source *sources; /* owned */
    size_t source_count;
    struct argus_ability *entries; /* owned */
    size_t count;
};

/* Counts the records of `trace`, reading all of its chunks. A trace that is not Darwin's has no
 * entries. */
struct argus_error *argus_abilities_read(const struct argus_trace *trace, argus_progress progress,
                                         void *context, struct argus_abilities *ret);
void argus_abilities_deinit(struct argus_abilities *abilities);

#ifdef __cplusplus
}
#endif
#endif
