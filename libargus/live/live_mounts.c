/* File systems: which one a wait is for, and which process serves it. Nothing is asked of the file
 * system itself, because it may not answer: /proc/PID/mountinfo tells all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_mounts.h"

enum { INFO_BYTES = 1024 };

/* Blanks, tabs, line ends and backslashes are written as \ooo, in octal (seq_file.c). */
static void unescape(char *text)
{
    unsigned byte;
    char *to = text;
    for (const char *from = text; *from; to++) {
        bool is_escape = from[0] == '\\' && strspn(from + 1, "01234567") >= 3 &&
                         sscanf(from + 1, "%3o", &byte) == 1 && byte && byte <= UINT8_MAX;
        *to = is_escape ? (char)byte : *from;
        from += is_escape ? 4 : 1;
    }
    *to = '\0';
}

/* A line of mountinfo: ID, parent, major:minor, root, mount point … - type, source, … (proc(5)). */
static bool parse_mount(const char *line, struct live_mount *ret)
{
    const char *type = strstr(line, " - ");
    if (!type ||
        sscanf(line, "%" SCNu64 " %*u %u:%u %*s %4095s", &ret->id, &ret->major, &ret->minor,
               ret->point) != 4 ||
        sscanf(type, " - %31s %255s", ret->type, ret->source) != 2)
        return false;
    unescape(ret->point);
    unescape(ret->source);
    return true;
}

static bool is_below(const char *path, const char *point)
{
    size_t length = strlen(point);
    return strncmp(path, point, length) == 0 &&
           (length == 1 || path[length] == '/' || path[length] == '\0');
}

typedef bool mount_test(const struct live_mount *mount, const void *wanted);

/* The mount that passes the test; of several, that with the longest mount point. */
static bool find_mount(uint32_t pid, mount_test *fits, const void *wanted, struct live_mount *ret)
{
    char name[48], *line = NULL;
    size_t room = 0;
    struct live_mount mount;
    ret->point[0] = '\0';
    snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0)
        if (parse_mount(line, &mount) && strlen(mount.point) >= strlen(ret->point) &&
            fits(&mount, wanted))
            *ret = mount;
    if (file)
        fclose(file);
    free(line);
    return ret->point[0] != '\0';
}

static bool has_id(const struct live_mount *mount, const void *id)
{
    return mount->id == *(const uint64_t *)id;
}

static bool has_path(const struct live_mount *mount, const void *path)
{
    return is_below(path, mount->point);
}

static bool has_device(const struct live_mount *mount, const void *device)
{
    const unsigned *numbers = device;
    return mount->major == numbers[0] && mount->minor == numbers[1];
}

bool live_mount_of_id(uint32_t pid, uint64_t id, struct live_mount *ret)
{
    return find_mount(pid, has_id, &id, ret);
}

bool live_mount_of_device(uint32_t pid, unsigned major, unsigned minor, struct live_mount *ret)
{
    const unsigned numbers[] = {major, minor};
    return find_mount(pid, has_device, numbers, ret);
}

bool live_mount_of_path(uint32_t pid, const char *path, struct live_mount *ret)
{
    return path[0] == '/' && find_mount(pid, has_path, path, ret);
}

static bool goes_up(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* A path that is not absolute begins at the current directory. "": where it leads is not known. */
static void whole_path(struct argus_live *live, uint32_t thread, uint32_t text,
                       char ret[LIVE_MOUNT_PATH])
{
    char link[48];
    const char *path = strtab_get(live->texts, text);
    ret[0] = '\0';
    if (goes_up(path))
        return;
    snprintf(link, sizeof(link), "/proc/%u/cwd", live_pid_of(live, thread));
    if (path[0] != '/' && !live_link(link, ret, LIVE_MOUNT_PATH / 2))
        return;
    size_t length = strlen(ret);
    snprintf(ret + length, LIVE_MOUNT_PATH - length, "%s%s", length ? "/" : "", path);
}

bool live_mount_of_wait(struct argus_live *live, uint32_t thread,
                        const struct argus_live_wait *wait, struct live_mount *ret)
{
    char info[INFO_BYTES], path[LIVE_MOUNT_PATH];
    uint64_t id;
    if (wait->fd != ARGUS_LIVE_NONE)
        return live_fd_info(live, live->threads.data[thread].process, wait->fd, info,
                            sizeof(info)) &&
               live_field(info, "mnt_id:", 10, &id) &&
               find_mount(live_pid_of(live, thread), has_id, &id, ret);
    if (!wait->text)
        return false;
    whole_path(live, thread, wait->text, path);
    return live_mount_of_path(live_pid_of(live, thread), path, ret);
}

/* Types whose server is another machine (for virtiofs and 9p, that of a virtual machine). To add
 * one: a row. */
enum live_mount_kind live_mount_kind(const struct live_mount *mount)
{
    static const char *const remote[] = {"nfs", "nfs4",     "cifs",   "smb3", "ceph", "9p",
                                         "afs", "virtiofs", "lustre", "gfs2", "ocfs2"};
    if (strcmp(mount->type, "fuse") == 0 || strncmp(mount->type, "fuse.", 5) == 0 ||
        strcmp(mount->type, "fuseblk") == 0)
        return LIVE_MOUNT_FUSE;
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
        if (strcmp(mount->type, remote[i]) == 0)
            return LIVE_MOUNT_REMOTE;
    return LIVE_MOUNT_LOCAL;
}

/* fs/fuse/inode.c, and MKDEV of include/linux/kdev_t.h. The type "fuseblk" has the numbers of a
 * disk. */
uint64_t live_fuse_connection(const struct live_mount *mount)
{
    return (uint64_t)mount->major << 20 | mount->minor;
}

/* The server has the connection of this mount open. Until Linux 6.15 the descriptor does not tell
 * the connection: then a single server must be it. */
static bool is_server(struct argus_live *live, const struct live_fd *fd,
                      const struct live_mount *mount, bool *ret_unsure)
{
    char info[INFO_BYTES];
    uint64_t connection;
    if (!live_fd_info(live, fd->process, fd->fd, info, sizeof(info)))
        return false;
    if (live_field(info, "fuse_connection:", 10, &connection))
        return connection == live_fuse_connection(mount);
    *ret_unsure = true;
    return true;
}

void live_add_fuse_servers(struct argus_live *live, const struct live_mount *mount,
                           struct live_candidates *ret)
{
    const struct live_fd *fds;
    bool is_unsure = false;
    size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key("/dev/fuse"), &fds);
    for (size_t i = 0; i < count; i++)
        if (is_server(live, &fds[i], mount, &is_unsure) && live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    if (is_unsure && ret->count > 1)
        ret->end = ARGUS_LIVE_END_SEVERAL;
    ret->is_guess |= is_unsure;
}

size_t live_fuse_servers(struct argus_live *live, const struct live_mount *mount,
                         uint32_t ret[LIVE_CANDIDATES])
{
    const struct live_fd *fds;
    bool is_unsure = false;
    size_t found = 0;
    size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key("/dev/fuse"), &fds);
    for (size_t i = 0; i < count && found < LIVE_CANDIDATES; i++)
        if (is_server(live, &fds[i], mount, &is_unsure))
            ret[found++] = fds[i].process;
    return found;
}

void live_by_fuse(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    struct live_mount mount;
    ret->link = ARGUS_LIVE_LINK_SERVES;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (live_mount_of_wait(live, thread, wait, &mount) &&
        live_mount_kind(&mount) == LIVE_MOUNT_FUSE)
        live_add_fuse_servers(live, &mount, ret);
}
