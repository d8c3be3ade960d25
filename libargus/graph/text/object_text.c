#include "graph/text/object_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Linux's values, whatever system this is built for. */
enum {
    TYPE_MASK = 0170000,
    TYPE_PIPE = 0010000,
    TYPE_FILE = 0100000,
    TYPE_SOCKET = 0140000,
    FAMILY_UNIX = 1,
    FAMILY_INET = 2,
    FAMILY_INET6 = 10,
    FAMILY_NETLINK = 16,
    SOCKET_STREAM = 1,
    SOCKET_DATAGRAM = 2
};

struct name_row {
    uint64_t type; /* of a file; 0 ends the table */
    const char *name;
};

static const struct name_row files[] = {
    {TYPE_PIPE, "pipe"},       {0020000, "device"},        {0040000, "directory, inode"},
    {0060000, "block device"}, {TYPE_FILE, "file, inode"}, {0, NULL},
};

static const char epoll_set[] = "epoll set", timer[] = "timerfd";

/* Files without an inode of their own, by the first six letters of the kernel's name. To add one: a
 * row. */
static const struct {
    const char *letters, *name;
} anonymous[] = {
    {"eventf", "eventfd"},  {"eventp", epoll_set},    {"timerf", timer},
    {"signal", "signalfd"}, {"inotif", "inotify"},    {"io_uri", "io_uring"},
    {"pidfd]", "pidfd"},    {"perf_e", "perf event"}, {"userfa", "userfaultfd"},
    {"fanoti", "fanotify"},
};

static const char *anonymous_name(uint64_t letters)
{
    char text[7] = "";
    for (int i = 0; i < 6; i++)
        text[i] = (char)(letters >> 8 * i);
    for (size_t i = 0; i < sizeof(anonymous) / sizeof(*anonymous); i++)
        if (!strncmp(text, anonymous[i].letters, 6))
            return anonymous[i].name;
    return NULL;
}

bool object_is_epoll_set(uint64_t type)
{
    return !(type & TYPE_MASK) && anonymous_name(type >> 16) == epoll_set;
}

bool object_is_timer(uint64_t type)
{
    return !(type & TYPE_MASK) && anonymous_name(type >> 16) == timer;
}

bool object_is_pipe(uint64_t type)
{
    return (type & TYPE_MASK) == TYPE_PIPE;
}

bool object_is_file(uint64_t type)
{
    return (type & TYPE_MASK) == TYPE_FILE;
}

bool object_is_inet(uint64_t type)
{
    uint64_t family = type >> 16 & 0xffff;
    return (type & TYPE_MASK) == TYPE_SOCKET && (family == FAMILY_INET || family == FAMILY_INET6);
}

static const char *file_name(uint64_t type)
{
    for (const struct name_row *row = files; row->name; row++)
        if (row->type == type)
            return row->name;
    return "inode";
}

static const char *socket_name(uint64_t family, uint64_t socket_type)
{
    if (family == FAMILY_UNIX)
        return "unix socket";
    if (family == FAMILY_NETLINK)
        return "netlink socket";
    if (family != FAMILY_INET && family != FAMILY_INET6)
        return "socket";
    return socket_type == SOCKET_STREAM     ? "TCP socket"
           : socket_type == SOCKET_DATAGRAM ? "UDP socket"
                                            : "IP socket";
}

const char *object_text(uint64_t inode, uint64_t peer, uint64_t type, char *buffer, size_t bytes)
{
    uint64_t file_type = type & TYPE_MASK;
    const char *anonymous_file = file_type ? NULL : anonymous_name(type >> 16);
    const char *name = file_type == TYPE_SOCKET ? socket_name(type >> 16 & 0xffff, type >> 32)
                                                : file_name(file_type);
    if (anonymous_file)
        snprintf(buffer, bytes, "%s", anonymous_file);
    else if (!inode)
        snprintf(buffer, bytes, "%s", "");
    else if (peer)
        snprintf(buffer, bytes, "%s %" PRIu64 ", peer %" PRIu64, name, inode, peer);
    else
        snprintf(buffer, bytes, "%s %" PRIu64, name, inode);
    return buffer;
}
