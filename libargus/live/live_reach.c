/* File systems that may not answer: argus why would wait with the program that it explains, and
 * could not even be killed. So a file that a process serves is read only while that has nothing to
 * do and can take a request, and a file of another machine only while no process is in the state in
 * which all wait that use such a file system. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "live/live_images.h"
#include "live/live_mounts.h"

enum { MOST_DEVICES = 64 };

/* Whether the kernel has no request for which an answer is missing
 * (Documentation/filesystems/fuse.rst). False if it does not tell. */
static bool has_no_request(const struct live_mount *mount)
{
    char path[64];
    unsigned waiting = 1;
    snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%" PRIu64 "/waiting",
             live_fuse_connection(mount));
    FILE *file = fopen(path, "re");
    bool is_read = file && fscanf(file, "%u", &waiting) == 1;
    if (file)
        fclose(file);
    return is_read && waiting == 0;
}

/* Whether a thread of the process waits for a request of the kernel (fs/fuse/dev.c). */
static bool awaits_request(uint32_t pid)
{
    char path[64], function[64];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && !found && (entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "task/%.16s/wchan", entry->d_name);
        found = live_read(pid, path, function, sizeof(function)) > 0 &&
                strncmp(function, "fuse_dev_", 9) == 0;
    }
    if (folder)
        closedir(folder);
    return found;
}

static bool is_blocked(uint32_t pid)
{
    char text[512];
    const char *state = live_stat_field(pid, 0, 3, text, sizeof(text));
    return state && *state == 'D';
}

/* Whether a process is in state D, or a thread that was looked at. A short wait for a disk of this
 * machine is not told apart. */
static bool any_is_blocked(const struct argus_live *live)
{
    for (size_t i = 0; i < live->threads.length; i++)
        if (live->threads.data[i].state == 'D')
            return true;
    for (size_t i = 0; i < live->processes.length; i++)
        if (is_blocked(live->processes.data[i].pid))
            return true;
    return false;
}

bool live_mount_may_hang(struct argus_live *live, const struct live_mount *mount)
{
    uint32_t servers[LIVE_CANDIDATES];
    enum live_mount_kind kind = live_mount_kind(mount);
    if (kind != LIVE_MOUNT_FUSE)
        return kind == LIVE_MOUNT_REMOTE && any_is_blocked(live);
    size_t count = has_no_request(mount) ? live_fuse_servers(live, mount, servers) : 0;
    for (size_t i = 0; i < count; i++)
        if (!awaits_request(live->processes.data[servers[i]].pid))
            return true;
    return count == 0;
}

/* Some file systems (overlay, btrfs) have other numbers in maps than in mountinfo. */
static bool may_hang(struct argus_live *live, uint32_t pid, unsigned major, unsigned minor,
                     const char *path)
{
    struct live_mount mount;
    return (live_mount_of_device(pid, major, minor, &mount) ||
            live_mount_of_path(pid, path, &mount)) &&
           live_mount_may_hang(live, &mount);
}

bool live_device_may_hang(struct argus_live *live, uint32_t pid, unsigned major, unsigned minor,
                          const char *path)
{
    for (size_t i = 0; i < live->system->devices.length; i++)
        if (live->system->devices.data[i].major == major &&
            live->system->devices.data[i].minor == minor)
            return live->system->devices.data[i].may_hang;
    const struct live_device device = {major, minor, may_hang(live, pid, major, minor, path)};
    if (live->system->devices.length < MOST_DEVICES && !vec_push(&live->system->devices, device))
        live->no_memory = true;
    return device.may_hang;
}
