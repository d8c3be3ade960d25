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

static bool is_socket(DIR *folder, const char *name)
{
    char target[16] = "";
    return readlinkat(dirfd(folder), name, target, sizeof(target) - 1) > 0 &&
           strncmp(target, "socket:", 7) == 0;
}

/* Whether a socket of the process is so; `unknown` if it cannot be asked. */
static bool any_socket_is(uint32_t pid, bool (*ask)(int fd), bool unknown)
{
    char path[32];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *folder = opendir(path);
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    const struct dirent *entry;
    if (!folder || process < 0)
        found = unknown;
    while (!found && folder && process >= 0 && (entry = readdir(folder)))
        found = isdigit((unsigned char)entry->d_name[0]) && is_socket(folder, entry->d_name) &&
                process_fd_is(process, atoi(entry->d_name), ask);
    if (folder)
        closedir(folder);
    if (process >= 0)
        close(process);
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

static bool is_display_with_untaken(int fd)
{
    struct ucred server;
    socklen_t bytes = sizeof(server);
    return is_display(fd) && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &bytes) == 0 &&
           server.pid > 0 && process_has_untaken((uint32_t)server.pid);
}

bool display_has_untaken(uint32_t pid)
{
    return any_socket_is(pid, is_display_with_untaken, false);
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
