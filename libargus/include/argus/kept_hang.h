/* The hang that a trace was kept for: two notes in the file (argus-trace(5), NOTE), which `argus start --on-hang` adds. One is
 * written as soon as the file exists, and says which hang it is; the other one when the hang has been diagnosed. So a file in a
 * folder of many can be listed, and compared with the others, without an analysis. */
#ifndef ARGUS_KEPT_HANG_H
#define ARGUS_KEPT_HANG_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_kept_hang {
    uint64_t pid, tid;
    uint64_t start_ns, duration_ns; /* the trace clock; as the recorder measured them */
    bool over;                      /* it had ended when the file was written */
    char process[64];
    bool diagnosed;     /* the members below are known */
    char type[24];      /* argus_vertex_type_name() */
    uint64_t signature; /* argus_hang_signature(): the same program froze in the same place */
    char cause[512];    /* a clause: "it waited for portald, which slept" */
};

/* Reads one note into `ret`, whose other members stay. False: the note is about something else, or malformed. */
bool argus_kept_hang_read(const char *note, struct argus_kept_hang *ret);

/* False: the trace was not kept for a hang. Of several the last one counts. */
bool argus_kept_hang_get(const struct argus_trace *trace, struct argus_kept_hang *ret);

/* Adds the note with the hang to the trace at `path`; the note with the diagnosis. */
struct argus_error *argus_kept_hang_append(const char *path, const struct argus_kept_hang *hang);
struct argus_error *argus_kept_hang_append_diagnosis(const char *path,
                                                     const struct argus_kept_hang *hang);

#ifdef __cplusplus
}
#endif
#endif
