/* glibc 2.31's <sys/mount.h>, with what Argus needs of 2.36's. For cmake/portable.cmake only. */
#ifndef ARGUS_PORTABLE_SYS_MOUNT_H
#define ARGUS_PORTABLE_SYS_MOUNT_H

#include_next <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Values of the kernel's <linux/mount.h>, which cannot be included beside glibc's. */
#define FSOPEN_CLOEXEC      1
#define FSCONFIG_CMD_CREATE 6
#define FSMOUNT_CLOEXEC     1
#define MOUNT_ATTR_NOSUID   2
#define MOUNT_ATTR_NOEXEC   8

static inline int fsopen(const char *name, unsigned int flags)
{
    return (int)syscall(SYS_fsopen, name, flags);
}

static inline int fsconfig(int fd, unsigned int command, const char *key, const void *value,
                           int auxiliary)
{
    return (int)syscall(SYS_fsconfig, fd, command, key, value, auxiliary);
}

static inline int fsmount(int fd, unsigned int flags, unsigned int attributes)
{
    return (int)syscall(SYS_fsmount, fd, flags, attributes);
}

#endif
