/* Executable mappings: of the processes that live when the recording begins, and of every mapping made after it. */
#ifndef ARGUS_RECORDER_LINUX_MAPPED_IMAGES_H
#define ARGUS_RECORDER_LINUX_MAPPED_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"

struct images;

/* Begins to listen on every cpu, and then reads what is mapped already. What fails on a cpu is counted, not fatal. */
struct argus_error *images_create(uint32_t cpu_count, struct images **ret);
void images_destroy(struct images *images);

/* Who wants to know of each mapping, and of each process that begins another program, as images_collect() learns of them. */
struct image_listener {
    void (*on_image)(void *context, const struct argus_image_entry *image, const char *path);
    void (*on_exec)(void *context, uint32_t pid, uint64_t time_ns);
    void *context;
};
void images_listen(struct images *images, const struct image_listener *listener);
/* Tells the listener of what is mapped already. */
void images_tell(struct images *images);

/* A cpu has come online: listens there as well. */
void images_cpu_came(struct images *images, uint32_t cpu);

/* Takes over what the kernel has reported since the last call. */
struct argus_error *images_collect(struct images *images);

/* Writes all that is known, also of processes that were forked and never mapped anything themselves; or only what was not
 * written before. */
struct argus_error *images_write(struct images *images, struct argus_writer *writer, bool all);

/* For a ring file, as backend_renew_names(): writes all that is known. A process that was found to have ended is
 * forgotten when all its records must have been read. */
struct argus_error *images_renew(struct images *images, uint64_t taken_ns,
                                 struct argus_writer *writer);

/* Mappings that the kernel reported and we were too slow for, and cpus that could not be listened on. */
uint64_t images_lost(const struct images *images);

#endif
