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

/* Takes over what the kernel has reported since the last call. */
struct argus_error *images_collect(struct images *images);

/* Writes what is known; `forget` drops it afterwards (it is in the file). */
struct argus_error *images_write(struct images *images, struct argus_writer *writer, bool forget);

/* Mappings that the kernel reported and we were too slow for, and cpus that could not be listened on. */
uint64_t images_lost(const struct images *images);

#endif
