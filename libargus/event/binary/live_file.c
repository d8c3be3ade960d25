/* A mapping of the trace is looked up in /proc/PID/maps by its address, its offset in the file and,
 * if the trace has it, the file's inode. If the process ID was reused, the new process does not
 * have the same file at the same random address. Then the file is opened by the first of these ways
 * that works: /proc/PID/map_files has exactly this file, but only for a privileged user; the path
 * below /proc/PID/root leads to it if it was neither deleted nor replaced, which the inode tells;
 * /proc/PID/exe is the program, even if deleted.
 */
#include "event/binary/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "event/binary/elf_file.h"

/* A line of /proc/PID/maps. */
struct mapping {
    uint64_t start, end, offset, inode;
    unsigned dev_major, dev_minor;
    char *path; /* points into the line */
};

static bool parse(char *line, struct mapping *ret)
{
    int path_at = 0;
    char permissions[5];
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->start,
               &ret->end, permissions, &ret->offset, &ret->dev_major, &ret->dev_minor, &ret->inode,
               &path_at) < 7)
        return false;
    ret->path = line + path_at;
    return true;
}

static bool is_of(const struct mapping *mapping, const struct argus_image_entry *image)
{
    return image->start >= mapping->start && image->start < mapping->end && mapping->inode &&
           mapping->offset + (image->start - mapping->start) == image->file_offset &&
           (!image->inode || image->inode == mapping->inode);
}

/* The caller frees `*ret_line`, into which the mapping's path points. */
static bool find_mapping(const struct argus_image_entry *image, char **ret_line,
                         struct mapping *ret, bool *ret_denied)
{
    char path[64];
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/maps", image->pid);
    FILE *maps = fopen(path, "re");
    *ret_line = NULL;
    *ret_denied = !maps && (errno == EACCES || errno == EPERM);
    while (maps && !found && getline(ret_line, &room, maps) > 0)
        found = parse(*ret_line, ret) && is_of(ret, image);
    *ret_denied |= maps && !found && errno == EACCES;
    if (maps)
        fclose(maps);
    return found;
}

/* On layered file systems, and with several volumes on a device, maps has another device and
 * perhaps another inode than stat(). */
static bool has_own_numbers(int fd)
{
    enum { OVERLAY = 0x794c7630, BTRFS = 0x9123683e };
    struct statfs status;
    return fstatfs(fd, &status) == 0 &&
           ((uint32_t)status.f_type == OVERLAY || (uint32_t)status.f_type == BTRFS);
}

/* Closes `fd` and returns -1 if it is another file. */
static int only_same(int fd, const struct mapping *mapping)
{
    struct stat status;
    if (fd < 0)
        return -1;
    bool same = fstat(fd, &status) == 0 &&
                ((status.st_ino == mapping->inode && major(status.st_dev) == mapping->dev_major &&
                  minor(status.st_dev) == mapping->dev_minor) ||
                 has_own_numbers(fd));
    if (same)
        return fd;
    close(fd);
    return -1;
}

static bool is_deleted(const char *path)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path), mark_length = sizeof(mark) - 1;
    return length >= mark_length && strcmp(path + length - mark_length, mark) == 0;
}

static int open_mapped(uint64_t pid, const struct mapping *mapping)
{
    char path[128];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, pid,
             mapping->start, mapping->end);
    return elf_open_regular(path, 0);
}

static int open_below_root(uint64_t pid, const struct mapping *mapping)
{
    char *path;
    if (mapping->path[0] != '/' || is_deleted(mapping->path) ||
        asprintf(&path, "/proc/%" PRIu64 "/root%s", pid, mapping->path) < 0)
        return -1;
    int fd = only_same(elf_open_regular(path, 0), mapping);
    free(path);
    return fd;
}

static int open_program(uint64_t pid, const struct mapping *mapping)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/exe", pid);
    return only_same(elf_open_regular(path, 0), mapping);
}

int live_file_open(const struct argus_image_entry *image, bool *ret_denied)
{
    static int (*const ways[])(uint64_t pid, const struct mapping *mapping) = {
        open_mapped,
        open_below_root,
        open_program,
    };
    char *line;
    struct mapping mapping;
    int fd = -1;
    if (find_mapping(image, &line, &mapping, ret_denied))
        for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && fd < 0; i++)
            fd = ways[i](image->pid, &mapping);
    free(line);
    return fd;
}
