/* What of the event graph a trace of Darwin allows: macOS does not write every record everywhere, and who looks at a graph has to
 * know which edges cannot be in it. The table is libargus/event/abilities.def.
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

/* What rules can do here. */
struct argus_ability {
    const char *rules; /* "wake.condition, wake.unlock, wake.parked" */
    const char *how;   /* "yes", "guessed: …"; NULL: they cannot work on this trace */
    const char *
        missing; /* the kind of record whose absence is to blame for that, or for a guess; NULL: none */
};

struct argus_abilities {
    struct argus_source *sources; /* owned */
    size_t source_count;
    struct argus_ability *entries; /* owned */
    size_t count;
};

/* Counts the records of `trace`, whose chunks are all read. Of a trace that is not Darwin's there are none. */
struct argus_error *argus_abilities_read(const struct argus_trace *trace, argus_progress progress,
                                         void *context, struct argus_abilities *ret);
void argus_abilities_deinit(struct argus_abilities *abilities);

#ifdef __cplusplus
}
#endif
#endif
