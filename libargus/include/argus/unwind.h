/* Turns stack snapshots (`argus record --unwind`) into ordinary stacks.
 *
 * A snapshot is a copy of registers and stack, taken by the recorder where it cannot walk the
 * stack. When the recording has ended, the front end unwinds the snapshots by the call frame
 * information in the programs' ELF files and replaces them with the frames. So a finished trace
 * contains no memory of the recorded programs. A trace that was not finished is unwound when it is
 * opened.
 */
#ifndef ARGUS_UNWIND_H
#define ARGUS_UNWIND_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_unwind_totals {
    uint64_t snapshots; /* all snapshots */
    uint64_t whole;     /* of these: unwound to the outermost function */
    /* of these: the copy ended before; see ARGUS_FRAME_CUT and ARGUS_FRAME_MISSING */
    uint64_t cut;
    uint64_t continued; /* of `cut`: completed with the callers from other stacks of the thread */
    uint64_t unknown;   /* reached code without unwind information */
    uint64_t deep;      /* have more frames than a stack may have */
    uint64_t damaged_chunks;
    uint64_t locked; /* not in `snapshots`: encrypted, and their key is not known */
};

/* Adds the stacks of all snapshots in `trace`. Must be called by the trace's owner before other
 * threads read it. `ret` may be NULL. */
struct argus_error *argus_unwind_trace(struct argus_trace *trace, argus_progress progress,
                                       void *context, struct argus_unwind_totals *ret);

/* The same for the file at `path`, in which the stacks replace the snapshots. `key`: of its
 * snapshots, if it is not in the user's key ring; NULL: it is, or they are not encrypted. */
struct argus_error *argus_unwind_file(const char *path, const struct argus_snapshot_key *key,
                                      argus_progress progress, void *context,
                                      struct argus_unwind_totals *ret);

#ifdef __cplusplus
}
#endif
#endif
