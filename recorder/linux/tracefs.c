#include "linux/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FORMAT_LIMIT 65536u /* the longest of Linux 6.18 has 6 KB */

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static int open_mounted(const char *place)
{
    struct statfs status;
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fstatfs(fd, &status) == 0 && status.f_type == TRACEFS_MAGIC)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A mount that is in no directory tree (fsmount(2), Linux 5.2). */
static int mount_detached(void)
{
    int context = fsopen("tracefs", FSOPEN_CLOEXEC);
    if (context < 0)
        return -1;
    int fd = -1;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID);
    int failed = errno;
    close(context);
    errno = failed;
    return fd;
}

struct argus_error *tracefs_open(int *ret_fd)
{
    int fd = -1;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++)
        fd = open_mounted(places[i]);
    if (fd < 0)
        fd = mount_detached();
    if (fd < 0)
        return argus_error_os(errno, "cannot read the kernel's list of tracepoints (tracefs is not "
                                     "at /sys/kernel/tracing and cannot be mounted)");
    *ret_fd = fd;
    return NULL;
}

static char *read_all(int fd)
{
    char *text = malloc(FORMAT_LIMIT);
    size_t length = 0;
    ssize_t got = 0;
    while (text && length < FORMAT_LIMIT - 1 &&
           (got = read(fd, text + length, FORMAT_LIMIT - 1 - length)) > 0)
        length += (size_t)got;
    if (!text || got < 0) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

char *tracefs_format(int tracefs_fd, const char *system, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
    int fd = openat(tracefs_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = read_all(fd);
    close(fd);
    return text;
}
