/* Mapped code of processes. Records (class 0x1f) report what dyld loads during the recording; this
 * module reads earlier mappings, and those without such a record: the shared cache and the programs
 * themselves. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H
#define ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H

#include "argus/trace.h"
#include "macos/kdebug_os.h"

/* Writes the mappings of `count` processes. Processes that end meanwhile have none. */
struct argus_error *kdebug_images_write(const struct kdebug_os *os, const uint32_t *pids,
                                        size_t count, struct argus_writer *writer);

#endif
