/* Disks: which one a thread waits for, how many requests it works on, and, if it is a file of
 * another file system (a loop device), who serves that. sysfs tells (Documentation/block/stat.rst,
 * Documentation/ABI/stable/sysfs-block). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/live_mounts.h"

enum { PATH_BYTES = 512, DEEPEST = 4 /* disks in files of disks */ };

/* The first line of a file of the disk's folder in sysfs. */
static bool read_line(const char *folder, const char *name, char *ret, size_t bytes)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(ret, (int)bytes, file);
    if (file)
        fclose(file);
    if (!is_read)
        return false;
    ret[strcspn(ret, "\n")] = '\0';
    return true;
}

/* The folder of the mount's disk. Some file systems (btrfs) have a number of their own instead of
 * the disk's; then the source is the disk. */
static bool find_disk(const struct live_mount *mount, char ret[PATH_BYTES])
{
    char target[PATH_BYTES];
    const char *slash = strrchr(mount->source, '/');
    if (mount->major)
        snprintf(ret, PATH_BYTES, "/sys/dev/block/%u:%u", mount->major, mount->minor);
    else if (strncmp(mount->source, "/dev/", 5) == 0)
        snprintf(ret, PATH_BYTES, "/sys/class/block/%.200s", slash + 1);
    else
        return false;
    return live_link(ret, target, sizeof(target));
}

void live_read_disk(struct argus_live *live, const struct live_mount *mount,
                    struct argus_live_wait *wait)
{
    char folder[PATH_BYTES], text[PATH_BYTES];
    unsigned reads = 0, writes = 0;
    if (!find_disk(mount, folder))
        return;
    if (read_line(folder, "inflight", text, sizeof(text)) &&
        sscanf(text, "%u %u", &reads, &writes) == 2)
        wait->in_flight = reads + writes;
    if (live_link(folder, text, sizeof(text)))
        wait->device = live_text(live, strrchr(text, '/') ? strrchr(text, '/') + 1 : text);
}

/* The mount with the file of which the disk consists. False: it is no such disk. The path is one of
 * the process that made the loop device: most often outside of containers, as argus itself is. */
static bool find_backing(const struct live_mount *mount, struct live_mount *ret)
{
    static const char deleted[] = " (deleted)";
    char folder[PATH_BYTES], path[LIVE_MOUNT_PATH];
    if (!find_disk(mount, folder) || !read_line(folder, "loop/backing_file", path, sizeof(path)))
        return false;
    size_t length = strlen(path), end = sizeof(deleted) - 1;
    if (length > end && strcmp(path + length - end, deleted) == 0)
        path[length - end] = '\0';
    return live_mount_of_path((uint32_t)getpid(), path, ret);
}

void live_by_disk(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    struct live_mount mount, backing;
    ret->link = ARGUS_LIVE_LINK_BACKS;
    ret->end = ARGUS_LIVE_END_DEVICE;
    bool found = live_mount_of_wait(live, thread, wait, &mount);
    for (int i = 0; found && i < DEEPEST && find_backing(&mount, &backing); i++) {
        mount = backing;
        if (live_mount_kind(&mount) == LIVE_MOUNT_REMOTE)
            ret->end = ARGUS_LIVE_END_REMOTE;
        if (live_mount_kind(&mount) != LIVE_MOUNT_FUSE)
            continue;
        live_add_fuse_servers(live, &mount, ret);
        ret->is_guess |= wait->in_flight == 0;
        break;
    }
}
