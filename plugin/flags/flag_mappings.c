#include "plugin/flags/flag_mappings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#else /* there is no /proc to compare with */
#define major(device) ((unsigned)((uint32_t)(device) >> 24))
#define minor(device) ((unsigned)((device)&0xffffff))
#endif

#include "plugin/flags/flag_place.h"

struct wanted {
    char path[PATH_MAX]; /* resolved */
    unsigned long long inode, offset;
    unsigned major, minor;
};

static struct argus_error *parse(const char *text, struct wanted *ret)
{
    char path[PATH_MAX];
    struct stat status;
    uint64_t offset = 0;
    const char *plus = strrchr(text, '+');
    struct argus_error *error = plus ? flag_place_number("an offset", plus + 1, &offset) : NULL;
    if (error)
        return error;
    snprintf(path, sizeof(path), "%.*s", (int)(plus ? (size_t)(plus - text) : strlen(text)), text);
    if (!realpath(path, ret->path) || stat(ret->path, &status) < 0)
        return argus_error_os(errno, "cannot find %s", path);
    ret->inode = status.st_ino;
    ret->offset = offset;
    ret->major = major(status.st_dev);
    ret->minor = minor(status.st_dev);
    return NULL;
}

/* Some file systems (btrfs, overlayfs) show another device in the list of mappings. */
static bool is_file(const struct wanted *wanted, unsigned major, unsigned minor,
                    unsigned long long inode, const char *path)
{
    if (inode != wanted->inode)
        return false;
    return (major == wanted->major && minor == wanted->minor) || strcmp(path, wanted->path) == 0;
}

static bool find_address(FILE *maps, const struct wanted *wanted, uint64_t *ret)
{
    char line[PATH_MAX + 128], may[5];
    while (fgets(line, sizeof(line), maps)) {
        unsigned long long start, end, offset, inode;
        unsigned major, minor;
        int path = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, may, &offset, &major,
                   &minor, &inode, &path) < 7 ||
            may[3] != 's' || !is_file(wanted, major, minor, inode, line + path) ||
            wanted->offset < offset || wanted->offset - offset >= end - start)
            continue;
        *ret = start + (wanted->offset - offset);
        return true;
    }
    return false;
}

static void look_at(const char *pid, const struct wanted *wanted, struct flag_mappings *ret)
{
    char path[64];
    uint64_t address;
    snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps) {
        ret->unreadable += errno == EACCES || errno == EPERM;
        return;
    }
    bool found = find_address(maps, wanted, &address);
    if (found && ret->count < FLAG_MAPPINGS_MAX)
        ret->all[ret->count++] = (struct flag_mapping){(uint32_t)strtoul(pid, NULL, 10), address};
    else if (found)
        ret->left_out++;
    fclose(maps);
}

struct argus_error *flag_mappings_find(const char *text, struct flag_mappings *ret)
{
    struct wanted wanted;
    struct dirent *entry;
    *ret = (struct flag_mappings){.count = 0};
    struct argus_error *error = parse(text, &wanted);
    if (error)
        return error;
    DIR *processes = opendir("/proc");
    if (!processes)
        return argus_error_os(errno, "cannot list the processes");
    while ((entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]))
            look_at(entry->d_name, &wanted, ret);
    closedir(processes);
    if (ret->count)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND, "no process maps %s at offset 0x%llx with MAP_SHARED%s", wanted.path,
        wanted.offset, ret->unreadable ? " (those of other users were not looked at)" : "");
}
