/* Which mapped files lie on file systems that another program or machine serves. A look at such a
 * file can wait for as long as the server does, and the server may be what froze. */
#ifndef ARGUS_RECORDER_LINUX_SERVED_FILES_H
#define ARGUS_RECORDER_LINUX_SERVED_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/idmap.h"

/* Zero-initialize it; free `by_device` with idmap_deinit(). */
struct served_files {
    struct idmap by_device; /* device of a file system → whether it is served */
};

/* Adds the file systems of a /proc/PID/mountinfo. False: no memory. */
bool served_files_add(struct served_files *served, FILE *mountinfo);

/* Whether process `pid` has a file of this device from such a file system; also if that is not
 * known of a file system without a disk of its own. Reads the process's mounts if the device is
 * new. */
bool served_files_has(struct served_files *served, const char *pid, uint32_t major, uint32_t minor);

#endif
