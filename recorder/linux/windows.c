/* A process has a window when one of its sockets leads to a display server: its peer has an address
 * defined by the protocols of X11 and Wayland. */
#include "server/windows.h"

#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "linux/display_sockets.h"
#include "linux/process_fds.h"
#include "server/proc_stat.h"

/* X11 over TCP: display n listens at this port + n; ssh forwards to the displays from 10 on. */
#define X11_PORT     6000
#define X11_DISPLAYS 1024

#define MOST_ANCESTORS 16

/* Any process may have many descriptors, and servers of its own with the address of a display. */
#define MOST_DESCRIPTORS 4096
#define MOST_SERVERS     4

/* The path may begin with a zero byte: then it is no file. */
static bool is_display_address(const struct sockaddr_storage *address, socklen_t bytes)
{
    char path[sizeof(struct sockaddr_un) + 1] = "";
    size_t before = offsetof(struct sockaddr_un, sun_path);
    if (address->ss_family == AF_UNIX && bytes > before && bytes <= sizeof(struct sockaddr_un)) {
        const char *name = ((const struct sockaddr_un *)address)->sun_path;
        size_t skipped = name[0] == 0;
        memcpy(path, name + skipped, bytes - before - skipped);
        return display_path(path);
    }
    uint16_t port =
        address->ss_family == AF_INET    ? ntohs(((const struct sockaddr_in *)address)->sin_port)
        : address->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)address)->sin6_port)
                                         : 0;
    return port >= X11_PORT && port < X11_PORT + X11_DISPLAYS;
}

static bool is_display(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof(address);
    return getpeername(fd, (struct sockaddr *)&address, &bytes) == 0 &&
           is_display_address(&address, bytes);
}

/* --- the sockets of a process --- */

struct socket_walk {
    DIR *folder; /* its descriptors; NULL: unknown */
    int process; /* a pidfd; negative: unknown */
    int left;    /* so many more descriptors are looked at */
};

static bool walk_begin(struct socket_walk *walk, uint32_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    *walk = (struct socket_walk){.folder = opendir(path), .left = MOST_DESCRIPTORS};
    walk->process = (int)syscall(SYS_pidfd_open, pid, 0);
    return walk->folder && walk->process >= 0;
}

static void walk_end(struct socket_walk *walk)
{
    if (walk->folder)
        closedir(walk->folder);
    if (walk->process >= 0)
        close(walk->process);
}

static bool is_socket(DIR *folder, const char *name)
{
    char target[16] = "";
    return readlinkat(dirfd(folder), name, target, sizeof(target) - 1) > 0 &&
           strncmp(target, "socket:", 7) == 0;
}

/* A copy of its next socket, for the caller to close; -1: there is none. */
static int walk_next(struct socket_walk *walk)
{
    const struct dirent *entry;
    int copy = -1;
    while (copy < 0 && walk->left-- > 0 && (entry = readdir(walk->folder))) {
        if (isdigit((unsigned char)entry->d_name[0]) && is_socket(walk->folder, entry->d_name))
            copy = process_fd_copy(walk->process, atoi(entry->d_name));
    }
    return copy;
}

/* Whether a socket of the process is so; `unknown` if it cannot be asked. */
static bool any_socket_is(uint32_t pid, bool (*ask)(int fd), bool unknown)
{
    struct socket_walk walk;
    int fd;
    bool is_known = walk_begin(&walk, pid), found = !is_known && unknown;
    while (is_known && !found && (fd = walk_next(&walk)) >= 0) {
        found = ask(fd);
        close(fd);
    }
    walk_end(&walk);
    return found;
}

bool process_has_window(uint32_t pid)
{
    return any_socket_is(pid, is_display, true);
}

bool poll_set_has_display(const struct poll_set *set, uint32_t pid)
{
    return process_fd_any_is(set, pid, is_display);
}

bool process_has_untaken(uint32_t pid)
{
    return any_socket_is(pid, fd_is_untaken, false);
}

/* Whether a display server has this socket, by which it sent what its client has not read. */
static bool is_unread_by_client(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof(address);
    return fd_is_untaken(fd) && getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
           is_display_address(&address, bytes);
}

/* The process that called listen() for a connection to a display; 0: unknown. */
static uint32_t server_of(int fd)
{
    struct ucred server = {.pid = 0};
    socklen_t bytes = sizeof(server);
    if (!is_display(fd) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &bytes) < 0)
        return 0;
    return server.pid > 0 ? (uint32_t)server.pid : 0;
}

/* The different servers of the process's displays: at most `room`. Returns how many. */
static size_t find_servers(uint32_t pid, uint32_t *ret, size_t room)
{
    struct socket_walk walk;
    size_t count = 0, i;
    int fd = walk_begin(&walk, pid) ? walk_next(&walk) : -1;
    for (; fd >= 0; fd = count < room ? walk_next(&walk) : -1) {
        uint32_t server = server_of(fd);
        close(fd);
        for (i = 0; i < count && ret[i] != server; i++)
            ;
        if (server && i == count)
            ret[count++] = server;
    }
    walk_end(&walk);
    return count;
}

bool display_has_untaken(uint32_t pid)
{
    uint32_t servers[MOST_SERVERS];
    size_t count = find_servers(pid, servers, MOST_SERVERS);
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = any_socket_is(servers[i], is_unread_by_client, false);
    return found;
}

bool process_works_for_windows(uint32_t pid)
{
    struct proc_stat stat, above;
    if (!proc_stat_read(pid, pid, &stat) || stat.is_kernel || process_has_window(pid))
        return false;
    uint32_t parent = (uint32_t)stat.parent;
    for (int i = 0; i < MOST_ANCESTORS && parent > 1; i++) {
        if (!proc_stat_read(parent, parent, &above) || above.session != stat.session)
            return false;
        if (any_socket_is(parent, is_display, false))
            return true;
        parent = (uint32_t)above.parent;
    }
    return false;
}
