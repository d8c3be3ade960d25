/* The file system of a wait. */
#ifndef ARGUS_LIVE_MOUNTS_H
#define ARGUS_LIVE_MOUNTS_H

#include "live/live_wait.h"

enum { LIVE_MOUNT_PATH = 4096 };

/* A line of /proc/PID/mountinfo. */
struct live_mount {
    uint64_t id;
    unsigned major, minor; /* of its device */
    char point[LIVE_MOUNT_PATH];
    char type[32];
    char source[256]; /* often a device's path */
};

enum live_mount_kind {
    LIVE_MOUNT_LOCAL,
    LIVE_MOUNT_FUSE,   /* a process serves it */
    LIVE_MOUNT_REMOTE, /* another machine serves it */
};

/* The mount of the wait's descriptor, or else of its path. False: it has none, or it is not known.
 */
bool live_mount_of_wait(struct argus_live *live, uint32_t thread,
                        const struct argus_live_wait *wait, struct live_mount *ret);
/* The mount of an absolute path, as the process sees it. */
bool live_mount_of_path(uint32_t pid, const char *path, struct live_mount *ret);
/* The mount with this ID ("mnt_id:" of a descriptor). */
bool live_mount_of_id(uint32_t pid, uint64_t id, struct live_mount *ret);
/* A mount of the file system with this device. */
bool live_mount_of_device(uint32_t pid, unsigned major, unsigned minor, struct live_mount *ret);
enum live_mount_kind live_mount_kind(const struct live_mount *mount);

/* Sets the disk of the file system, and its requests in flight. */
void live_read_disk(struct argus_live *live, const struct live_mount *mount,
                    struct argus_live_wait *wait);

/* The number of a FUSE mount's connection: the device's, as the kernel writes it. */
uint64_t live_fuse_connection(const struct live_mount *mount);
/* The processes that serve a FUSE file system: their indices. Returns their number. */
size_t live_fuse_servers(struct argus_live *live, const struct live_mount *mount,
                         uint32_t ret[LIVE_CANDIDATES]);

/* Whether a reader of a file of this file system may wait without end. */
bool live_mount_may_hang(struct argus_live *live, const struct live_mount *mount);

/* Adds the processes that serve a FUSE file system. */
void live_add_fuse_servers(struct argus_live *live, const struct live_mount *mount,
                           struct live_candidates *ret);

#endif
