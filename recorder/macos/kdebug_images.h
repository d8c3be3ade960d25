/* Mapped code of processes. Records (class 0x1f) report what dyld loads during the recording; this
 * module reads earlier mappings, and those without such a record: the shared cache and the programs
 * themselves. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H
#define ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H

#include "argus/trace.h"
#include "macos/kdebug_os.h"

/* Writes the mappings of `count` processes. Processes that end meanwhile have none. `with_cache`:
 * also the shared cache and its images, which are the same in all processes until the next boot
 * (not in processes of another architecture, under Rosetta). */
struct argus_error *kdebug_images_write(const struct kdebug_os *os, const uint32_t *pids,
                                        size_t count, bool with_cache, struct argus_writer *writer);

#endif
