/* From a snapshot of a stack to its frames. */
#ifndef ARGUS_EVENT_UNWINDER_H
#define ARGUS_EVENT_UNWINDER_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "event/binary/elf_files.h"
#include "event/images.h"
#include "event/unwind/cfi.h"

/* Unwinds the snapshots of one trace. One object belongs to one thread. */
struct unwinder {
    const struct images *images; /* borrowed */
    struct elf_files files;
    VEC(struct cfi *) cfis;    /* owned */
    struct idmap cfi_by_image; /* image entry → cfi */
    bool arm;                  /* of arm64, and else of x86-64, with 32-bit programs beside */
    bool no_memory;            /* sticky */
};

void unwinder_init(struct unwinder *unwinder, const struct argus_trace *trace,
                   const struct images *images);
void unwinder_deinit(struct unwinder *unwinder);

/* A stack, innermost first; the last frame is an ARGUS_FRAME_… where it goes on. */
struct unwound {
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    uint64_t slots
        [ARGUS_STACK_MAX_FRAMES]; /* where each one's return address lies on the stack; 0: not known */
    size_t count;                 /* at least one */
};

/* The frames of `snapshot` of process `process` (index). */
void unwinder_frames(struct unwinder *unwinder, const struct argus_snapshot *snapshot,
                     uint32_t process, struct unwound *ret);

#endif
