/* From a snapshot of a stack to its frames. */
#ifndef ARGUS_EVENT_UNWINDER_H
#define ARGUS_EVENT_UNWINDER_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "event/cfi.h"
#include "event/elf_files.h"
#include "event/images.h"

/* Unwinds the snapshots of one trace. One object belongs to one thread. */
struct unwinder {
    const struct images *images; /* borrowed */
    struct elf_files files;
    VEC(struct cfi *) cfis;    /* owned */
    struct idmap cfi_by_image; /* image entry → cfi */
    uint32_t register_count;
    unsigned machine; /* EM_X86_64 or EM_AARCH64 */
    bool no_memory;   /* sticky */
};

void unwinder_init(struct unwinder *unwinder, const struct argus_trace *trace,
                   const struct images *images);
void unwinder_deinit(struct unwinder *unwinder);

/* The frames of `snapshot` of process `process` (index), innermost first, at most ARGUS_STACK_MAX_FRAMES; the last one is an
 * ARGUS_FRAME_… where the stack goes on. At least one. */
size_t unwinder_frames(struct unwinder *unwinder, const struct argus_snapshot *snapshot,
                       uint32_t process, uint64_t *ret);

#endif
