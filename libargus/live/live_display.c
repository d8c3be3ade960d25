/* Displays: to which one a process is connected, and which process serves it. */
#include "live/live_display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live_mounts.h"
#include "live/live_x11.h"

enum { ENVIRONMENT_BYTES = 65536 };

/* The other end of a descriptor of the process, if that is a server's socket with a name. */
static const struct live_socket *server_end(struct argus_live *live, uint32_t process,
                                            const struct live_fd *fd)
{
    if (fd->process != process || fd->type != LIVE_FILE_SOCKET)
        return NULL;
    const struct live_socket *own = live_socket(live, fd->key);
    return own && !own->path ? live_socket(live, own->peer) : NULL;
}

enum live_display live_display_of(struct argus_live *live, uint32_t process)
{
    enum live_display found = LIVE_DISPLAY_NONE;
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_socket *peer = server_end(live, process, &live->fds.data[i]);
        const char *path = peer ? strtab_get(live->texts, peer->path) : "";
        if (strstr(path, "/wayland-"))
            return LIVE_DISPLAY_WAYLAND;
        if (strstr(path, ".X11-unix/X"))
            found = LIVE_DISPLAY_X11;
    }
    return found;
}

/* The value of a variable in the environment of some process; its own come first. */
static bool find_variable(const char *text, size_t length, const char *name, char *ret,
                          size_t bytes)
{
    size_t name_length = strlen(name);
    for (size_t at = 0; at < length; at += strlen(text + at) + 1)
        if (strncmp(text + at, name, name_length) == 0 && text[at + name_length] == '=') {
            snprintf(ret, bytes, "%s", text + at + name_length + 1);
            return ret[0] != '\0';
        }
    return false;
}

/* The file with the cookie of another process's display. It is used only if it belongs to that
 * process's user: else root could be made to send the cookie of somebody else to a server of that
 * user. A file on a file system that may not answer is left out. */
static void find_authority(struct argus_live *live, uint32_t process, const char *text,
                           size_t length, struct x11_authority *ret)
{
    static const char name[] = "/.Xauthority";
    char home[X11_AUTHORITY_BYTES - sizeof(name)] = "";
    struct live_mount mount;
    ret->owner = live->processes.data[process].uid;
    if (!find_variable(text, length, "XAUTHORITY", ret->path, sizeof(ret->path))) {
        find_variable(text, length, "HOME", home, sizeof(home));
        snprintf(ret->path, sizeof(ret->path), "%s%s", home, name);
    }
    if (!live_mount_of_path((uint32_t)getpid(), ret->path, &mount) ||
        live_mount_may_hang(live, &mount))
        snprintf(ret->path, sizeof(ret->path), "/dev/null");
}

static bool read_display(struct argus_live *live, uint32_t process, const char *text, size_t length,
                         char *ret_display, struct x11_authority *ret_authority)
{
    char path[128];
    if (!find_variable(text, length, "DISPLAY", ret_display, LIVE_DISPLAY_BYTES) ||
        !x11_socket_path(ret_display, path, sizeof(path)))
        return false;
    find_authority(live, process, text, length, ret_authority);
    return true;
}

/* Paths are those of its mount namespace: another one can have another server at the same path. */
static bool has_own_mounts(uint32_t pid)
{
    char path[48], own[64], theirs[64];
    snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
    return !live_link("/proc/self/ns/mnt", own, sizeof(own)) ||
           !live_link(path, theirs, sizeof(theirs)) || strcmp(own, theirs) != 0;
}

bool live_display_of_process(struct argus_live *live, uint32_t process, char *ret_display,
                             struct x11_authority *ret_authority)
{
    uint32_t pid = live->processes.data[process].pid, server;
    char *text = malloc(ENVIRONMENT_BYTES);
    ssize_t length = text ? live_read(pid, "environ", text, ENVIRONMENT_BYTES) : 0;
    bool found = length > 0 && live_display_of(live, process) == LIVE_DISPLAY_X11 &&
                 !has_own_mounts(pid) &&
                 read_display(live, process, text, (size_t)length, ret_display, ret_authority) &&
                 live_uses_display(live, process, ret_display, &server);
    free(text);
    return found;
}

bool live_uses_display(struct argus_live *live, uint32_t process, const char *display,
                       uint32_t *ret_server)
{
    char path[128];
    const struct live_fd *fds;
    *ret_server = ARGUS_LIVE_NONE;
    if (!x11_socket_path(display, path, sizeof(path)))
        return false;
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_socket *peer = server_end(live, process, &live->fds.data[i]);
        const char *name = peer ? strtab_get(live->texts, peer->path) : "";
        if (strcmp(name + (name[0] == '@'), path) != 0)
            continue;
        if (live_fds_of(live, LIVE_FILE_SOCKET, peer->inode, &fds))
            *ret_server = fds[0].process;
        return true;
    }
    return false;
}

/* Of a login by ssh, say, which has no display: that of the first process which is connected to
 * one. */
bool live_find_display(struct argus_live *live, char *ret_display,
                       struct x11_authority *ret_authority)
{
    const char *own = getenv("DISPLAY"), *authority = getenv("XAUTHORITY");
    bool found = own && own[0];
    snprintf(ret_display, LIVE_DISPLAY_BYTES, "%s", found ? own : "");
    snprintf(ret_authority->path, sizeof(ret_authority->path), "%s", authority ? authority : "");
    ret_authority->owner = X11_ANY_OWNER;
    for (uint32_t i = 0; !found && i < live->processes.length; i++)
        found = live_load(live, i) && live_display_of_process(live, i, ret_display, ret_authority);
    return found;
}

/* The process that listens at the display's socket. */
uint32_t live_display_server(struct argus_live *live, const char *display)
{
    char path[128];
    const struct live_fd *fds;
    if (!x11_socket_path(display, path, sizeof(path)))
        return ARGUS_LIVE_NONE;
    live_socket(live, 0);
    for (size_t i = 0; i < live->sockets.length; i++) {
        const struct live_socket socket = live->sockets.data[i];
        const char *name = strtab_get(live->texts, socket.path);
        if (!socket.is_listening || strcmp(name + (name[0] == '@'), path) != 0)
            continue;
        if (live_fds_of(live, LIVE_FILE_SOCKET, socket.inode, &fds) &&
            live_load(live, fds[0].process))
            return live->processes.data[fds[0].process].first_thread;
    }
    return ARGUS_LIVE_NONE;
}
