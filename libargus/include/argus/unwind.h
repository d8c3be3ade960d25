/* Stack snapshots (`argus record --unwind`) become ordinary stacks.
 *
 * The recorder copies what it cannot walk: registers and stack. The front end unwinds the copies when the recording has
 * ended, by the call frame information in the programs' ELF files, and puts the frames in their place, so that a finished
 * trace holds no memory of the recorded programs. A trace that was never finished is unwound when it is opened.
 */
#ifndef ARGUS_UNWIND_H
#define ARGUS_UNWIND_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_unwind_totals {
    uint64_t snapshots; /* that were looked at */
    uint64_t whole;     /* of them, unwound to the outermost function */
    uint64_t cut;       /* whose copy ended before; see ARGUS_FRAME_CUT and ARGUS_FRAME_MISSING */
    uint64_t continued; /* of these, to which other stacks of the thread told the callers */
    uint64_t unknown;   /* that came to code without unwind information */
    uint64_t deep;      /* with more frames than a stack may have */
    uint64_t damaged_chunks;
};

/* Adds the stacks of all snapshots in `trace`; nothing when there are none. By the trace's owner, before others read it.
 * `ret` may be NULL. */
struct argus_error *argus_unwind_trace(struct argus_trace *trace, argus_progress progress,
                                       void *context, struct argus_unwind_totals *ret);

/* The same for the file at `path`, in which the stacks take the place of the snapshots. */
struct argus_error *argus_unwind_file(const char *path, argus_progress progress, void *context,
                                      struct argus_unwind_totals *ret);

#ifdef __cplusplus
}
#endif
#endif
