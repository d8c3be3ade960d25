/* Executable mappings: those that exist when the recording begins, and all later ones. */
#ifndef ARGUS_RECORDER_LINUX_MAPPED_IMAGES_H
#define ARGUS_RECORDER_LINUX_MAPPED_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"

struct images;

/* Opens the event on every CPU, then reads the existing mappings. A failure on a CPU is counted,
 * not fatal. */
struct argus_error *images_create(uint32_t cpu_count, struct images **ret);
void images_destroy(struct images *images);

/* Callbacks for each mapping, and for each process that executes another program, called from
 * images_collect(). */
struct image_listener {
    void (*on_image)(void *context, const struct argus_image_entry *image, const char *path);
    void (*on_exec)(void *context, uint32_t pid, uint64_t time_ns);
    void *context;
};
void images_listen(struct images *images, const struct image_listener *listener);
/* Reports the existing mappings to the listener. */
void images_tell(struct images *images);

/* A CPU has come online: opens the event there as well. */
void images_cpu_came(struct images *images, uint32_t cpu);

/* Reads what the kernel has reported since the last call. */
struct argus_error *images_collect(struct images *images);

/* Writes all known mappings, also those that forked processes have inherited; or only those not yet
 * written. */
struct argus_error *images_write(struct images *images, struct argus_writer *writer, bool all);

/* For a ring file, as backend_renew_names(): writes all known mappings. An ended process is dropped
 * once all its records must have been read. */
struct argus_error *images_renew(struct images *images, uint64_t taken_ns,
                                 struct argus_writer *writer);

/* The number of mappings lost because the buffer was full or their process had too many, and of
 * CPUs on which the event could not be opened. */
uint64_t images_lost(const struct images *images);

#endif
