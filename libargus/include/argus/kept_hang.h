/* The hang for which a trace was kept. `argus start --on-hang` adds it to the file as two notes
 * (argus-trace(5), NOTE): one as soon as the file exists, which identifies the hang, and one when
 * the hang has been diagnosed. So a whole folder of files can be listed and compared without
 * analyzing them. */
#ifndef ARGUS_KEPT_HANG_H
#define ARGUS_KEPT_HANG_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_kept_hang {
    uint64_t pid, tid;
    uint64_t start_ns, duration_ns; /* on the trace clock; as the recorder measured it */
    bool over;                      /* the hang had ended when the file was written */
    char process[64];
    bool diagnosed;     /* the hang was diagnosed: the members below are valid */
    char type[24];      /* argus_vertex_type_name() */
    uint64_t signature; /* argus_hang_signature(): the same program froze in the same place */
    char cause[512];    /* a clause: "it waited for portald, which slept" */
};

/* Reads one note into `ret`; members that the note does not have keep their values. False: the note
 * is about something else, or malformed. */
bool argus_kept_hang_read(const char *note, struct argus_kept_hang *ret);

/* False: the trace was not kept for a hang. If there are several such notes, the last one
 * counts. */
bool argus_kept_hang_get(const struct argus_trace *trace, struct argus_kept_hang *ret);

/* Add to the trace at `path` the note with the hang, and the note with its diagnosis. */
struct argus_error *argus_kept_hang_append(const char *path, const struct argus_kept_hang *hang);
struct argus_error *argus_kept_hang_append_diagnosis(const char *path,
                                                     const struct argus_kept_hang *hang);

#ifdef __cplusplus
}
#endif
#endif
