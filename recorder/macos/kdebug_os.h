/* The backend's interface to macOS. darwin_os.c implements it by the real system; tests/macos has a
 * simulated kernel, so everything else here is tested on Linux.
 *
 * Functions that can fail return 0 or an error number (errno.h). One thread calls.
 */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_OS_H
#define ARGUS_RECORDER_MACOS_KDEBUG_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a file that a process has mapped as code. */
struct kdebug_region {
    uint64_t start, bytes, file_offset, inode;
    uint32_t device;
    char path[1024];
};

struct kdebug_os {
    void *context;
    /* sysctl(3): kern.kdebug's operation with a value. `data`, NULL: none; `*bytes` is its room,
     * and then what the kernel returns, which for some operations is a number of records. */
    int (*kdebug)(void *context, int operation, int value, void *data, size_t *bytes);
    /* sysctlbyname(3); either may be NULL. */
    int (*control)(void *context, const char *name, void *old_data, size_t *old_bytes,
                   const void *new_data, size_t new_bytes);
    /* ticks * numer / denom are ns. */
    void (*timebase)(void *context, uint32_t *ret_numer, uint32_t *ret_denom);
    uint64_t (*now_ticks)(void *context);
    uint64_t (*wall_ns)(void *context);
    uint32_t (*own_pid)(void *context);
    /* The name of a process, NUL-terminated; false: the process is gone. */
    bool (*process_name)(void *context, uint32_t pid, char *ret, size_t room);
    /* The mapped code of a process at `from` or above it; false: no more, or it is gone. */
    bool (*next_region)(void *context, uint32_t pid, uint64_t from, struct kdebug_region *ret);
    /* Release and machine, as uname(2); 0 or an error number. */
    int (*host)(void *context, char *ret, size_t room);
};

#ifdef __APPLE__
extern const struct kdebug_os kdebug_os_darwin;
#endif

#endif
