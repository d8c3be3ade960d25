/* Unwinds a snapshot of a stack to its frames. */
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
    bool arm;                  /* arm64; otherwise x86-64, including 32-bit programs */
    bool no_memory;            /* sticky */
};

void unwinder_init(struct unwinder *unwinder, const struct argus_trace *trace,
                   const struct images *images);
void unwinder_deinit(struct unwinder *unwinder);

/* A stack, innermost frame first; the last frame is an ARGUS_FRAME_… if the stack is incomplete. */
struct unwound {
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    /* where each frame's return address is on the stack; 0: unknown */
    uint64_t slots[ARGUS_STACK_MAX_FRAMES];
    size_t count; /* at least one */
};

/* The frames of `snapshot` of process `process` (index). */
void unwinder_frames(struct unwinder *unwinder, const struct argus_snapshot *snapshot,
                     uint32_t process, struct unwound *ret);

#endif
