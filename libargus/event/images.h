/* The executable images of every process, by address and time. */
#ifndef ARGUS_EVENT_IMAGES_H
#define ARGUS_EVENT_IMAGES_H

#include "argus/event.h"

struct images {
    const struct argus_trace *trace;       /* borrowed */
    const struct argus_process *processes; /* borrowed */
    size_t process_count;
    const struct argus_image_entry *entries;
    uint32_t *by_pid;   /* owned; indices of entries, sorted by process ID, start, file order */
    uint64_t *furthest; /* owned; as by_pid: the largest end in the tree below (images.c) */
    size_t count;
    /* owned; the entries in Darwin's shared cache, sorted by address; all processes have them */
    uint32_t *shared;
    size_t shared_count;
};

struct argus_error *images_init(struct images *images, const struct argus_trace *trace,
                                const struct argus_process *processes, size_t process_count);
void images_deinit(struct images *images);

/* The entry that covers `address` in `process` at `time_ns`. Searched are its own mappings; before
 * its first exec, those of the process that forked it, or of its parent if it is older than the
 * records; on Darwin, finally, the shared cache. UINT32_MAX: none. */
uint32_t images_find(const struct images *images, uint32_t process, uint64_t time_ns,
                     uint64_t address);

#endif
