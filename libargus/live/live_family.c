/* Children that are waited for, tracers, and servers of file systems. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_wait.h"

enum { LINE_BYTES = 4096, INFO_BYTES = 1024 };

/* Of any child, each one ends the wait. */
void live_by_child(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                   struct live_candidates *ret)
{
    uint32_t pid = live_pid_of(live, thread);
    ret->link = ARGUS_LIVE_LINK_CHILD;
    for (uint32_t i = 0; i < live->processes.length; i++) {
        bool is_child = wait->object ? live->processes.data[i].pid == wait->object
                                     : live_parent_of(live, i) == pid;
        if (is_child && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
    }
    if (ret->count > 1)
        ret->end = ARGUS_LIVE_END_SEVERAL;
}

void live_by_tracer(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    uint32_t tracer =
        live_process(live, live->processes.data[live->threads.data[thread].process].tracer_pid);
    (void)wait;
    ret->link = ARGUS_LIVE_LINK_TRACES;
    ret->end = ARGUS_LIVE_END_STOPPED;
    if (tracer != ARGUS_LIVE_NONE)
        live_candidate(ret, tracer, ARGUS_LIVE_NONE);
}

/* A line of mountinfo: ID, parent, major:minor, root, mount point … - type … (proc(5)). */
struct mount {
    uint64_t id;
    unsigned minor;
    char point[LINE_BYTES];
    bool is_fuse;
};

static bool parse_mount(const char *line, struct mount *ret)
{
    const char *type = strstr(line, " - ");
    if (!type ||
        sscanf(line, "%" SCNu64 " %*u %*u:%u %*s %4095s", &ret->id, &ret->minor, ret->point) != 3)
        return false;
    ret->is_fuse = strncmp(type + 3, "fuse", 4) == 0;
    return true;
}

static bool is_below(const char *path, const char *point)
{
    size_t length = strlen(point);
    return strncmp(path, point, length) == 0 &&
           (length == 1 || path[length] == '/' || path[length] == '\0');
}

/* The mount of a descriptor (`id`) or path: the longest mount point counts. */
static bool find_mount(uint32_t pid, uint64_t id, const char *path, struct mount *ret)
{
    char name[48], *line = NULL;
    size_t room = 0, longest = 0;
    bool found = false;
    snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0) {
        struct mount mount;
        if (!parse_mount(line, &mount))
            continue;
        size_t length = strlen(mount.point);
        bool fits = id ? mount.id == id : length >= longest && is_below(path, mount.point);
        if (!fits)
            continue;
        longest = length;
        *ret = mount;
        found = true;
    }
    if (file)
        fclose(file);
    free(line);
    return found && ret->is_fuse;
}

/* A path that is not absolute begins at the current directory. */
static void whole_path(struct argus_live *live, uint32_t thread, uint32_t text, char *ret)
{
    char link[48];
    const char *path = strtab_get(live->texts, text);
    ret[0] = '\0';
    snprintf(link, sizeof(link), "/proc/%u/cwd", live_pid_of(live, thread));
    if (path[0] != '/' && !live_link(link, ret, LINE_BYTES / 2))
        return;
    size_t length = strlen(ret);
    snprintf(ret + length, LINE_BYTES - length, "%s%s", length ? "/" : "", path);
}

/* The server has the connection of this mount open; its number is the device's (fs/fuse/inode.c).
 * Until Linux 6.15 the descriptor does not tell the connection: then a single server must be it. */
static bool is_server(struct argus_live *live, const struct live_fd *fd, unsigned minor,
                      bool *ret_unsure)
{
    char info[INFO_BYTES];
    uint64_t connection;
    if (!live_fd_info(live, fd->process, fd->fd, info, sizeof(info)))
        return false;
    if (live_field(info, "fuse_connection:", 10, &connection))
        return connection == minor;
    *ret_unsure = true;
    return true;
}

void live_by_fuse(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    char info[INFO_BYTES], path[LINE_BYTES];
    uint64_t id = 0;
    struct mount mount;
    const struct live_fd *fds;
    bool is_unsure = false;
    ret->link = ARGUS_LIVE_LINK_SERVES;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (wait->fd != ARGUS_LIVE_NONE &&
        live_fd_info(live, live->threads.data[thread].process, wait->fd, info, sizeof(info)))
        live_field(info, "mnt_id:", 10, &id);
    whole_path(live, thread, wait->text, path);
    if (!find_mount(live_pid_of(live, thread), id, path, &mount))
        return;
    size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key("/dev/fuse"), &fds);
    for (size_t i = 0; i < count; i++)
        if (is_server(live, &fds[i], mount.minor, &is_unsure) && live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    if (is_unsure && ret->count > 1)
        ret->end = ARGUS_LIVE_END_SEVERAL;
    ret->is_guess = is_unsure;
}
