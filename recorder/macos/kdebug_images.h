/* What processes have mapped as code. What dyld loads during the recording is in the records (class 0x1f); this is what was there
 * before, and what has no such record: the shared cache and the programs themselves. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H
#define ARGUS_RECORDER_MACOS_KDEBUG_IMAGES_H

#include "argus/trace.h"
#include "macos/kdebug_os.h"

/* Writes the mappings of `count` processes. Processes that end meanwhile have none. */
struct argus_error *kdebug_images_write(const struct kdebug_os *os, const uint32_t *pids,
                                        size_t count, struct argus_writer *writer);

#endif
