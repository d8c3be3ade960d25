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

/* dyld's shared cache: it has the same address in all processes of its architecture until the next
 * boot, and its UUID identifies its contents. */
struct kdebug_cache {
    uint64_t start, bytes;
    uint8_t uuid[16];
};

/* A library in the shared cache. */
struct kdebug_cached_image {
    uint64_t start, bytes; /* of its code */
    uint8_t uuid[16];
    const char *path; /* valid during the call */
};

/* False ends the enumeration. */
typedef bool (*kdebug_visit_cached)(void *visitor, const struct kdebug_cached_image *image);

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
    /* The cache of the recorder's own architecture; false: there is none. */
    bool (*shared_cache)(void *context, struct kdebug_cache *ret);
    /* All libraries in it. */
    void (*cached_images)(void *context, const struct kdebug_cache *cache,
                          kdebug_visit_cached visit, void *visitor);
    /* Release and machine, as uname(2); 0 or an error number. */
    int (*host)(void *context, char *ret, size_t room);
};

#ifdef __APPLE__
extern const struct kdebug_os kdebug_os_darwin;
#endif

#endif
