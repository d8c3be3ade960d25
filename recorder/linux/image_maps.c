/* Mappings that no event reported, from /proc/PID/maps: those older than the recording, and those
 * that a forked process inherited. The build ID comes from the kernel if it supports that
 * (PROCMAP_QUERY, Linux 6.11), because the recorder does not open the mapped files. The kernel
 * reads the file for that, and waits for it. So files of a network or FUSE are not asked about: if
 * their server hangs, the recorder must not hang with it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/idmap.h"
#include "linux/image_list.h"
#include "linux/pid_namespace.h"
#include "linux/served_files.h"

/* include/uapi/linux/fs.h of Linux 6.11; older headers lack it. */
struct procmap_query_6_11 {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY_6_11 _IOWR('f', 17, struct procmap_query_6_11)

static void ask_build_id(FILE *maps, struct argus_image_entry *image)
{
    struct procmap_query_6_11 query = {
        .size = sizeof(query),
        .query_addr = image->start,
        .build_id_size = sizeof(image->build_id),
        .build_id_addr = (uint64_t)(uintptr_t)image->build_id,
    };
    if (ioctl(fileno(maps), PROCMAP_QUERY_6_11, &query) == 0 &&
        query.build_id_size <= sizeof(image->build_id))
        image->build_id_bytes = query.build_id_size;
}

/* perf_event's name for executable memory without a file: code generated at run time. */
#define NO_FILE "//anon"

/* "start-end perms offset major:minor inode path"; False for a mapping that is not executable. */
static bool parse_line(const char *line, struct argus_image_entry *ret, const char **ret_path)
{
    char permissions[5];
    int path_at = 0;
    unsigned long long start, end, offset, inode;
    if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, permissions, &offset,
               &ret->dev_major, &ret->dev_minor, &inode, &path_at) < 7)
        return false;
    ret->start = start;
    ret->end = end;
    ret->file_offset = offset;
    ret->inode = inode;
    *ret_path = line[path_at] ? line + path_at : NO_FILE;
    return permissions[2] == 'x';
}

static struct argus_error *read_process(struct image_list *list, struct served_files *served,
                                        const char *pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return NULL; /* gone */
    struct argus_error *error = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while (!error && (length = getline(&line, &room, maps)) > 0) {
        struct argus_image_entry image = {.pid = strtoull(pid, NULL, 10)};
        const char *name;
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (!parse_line(line, &image, &name))
            continue;
        if (image.inode && !served_files_has(served, pid, image.dev_major, image.dev_minor))
            ask_build_id(maps, &image);
        error = image_list_add(list, &image, name, strlen(name));
    }
    free(line);
    fclose(maps);
    return error;
}

/* The processes that the list knows; false without memory. */
static bool collect_pids(const struct image_list *list, struct idmap *ret)
{
    for (size_t i = 0; i < list->entries.length; i++) {
        if (!idmap_put(ret, list->entries.data[i].pid, 0))
            return false;
    }
    return true;
}

struct argus_error *image_maps_read(struct image_list *list)
{
    struct idmap known = {0};
    struct served_files served = {0};
    if (!pid_namespace_fits_proc())
        return NULL; /* /proc has process IDs of another namespace */
    DIR *proc = opendir("/proc");
    if (!proc)
        return argus_error_os(errno, "cannot read /proc");
    struct argus_error *error = collect_pids(list, &known) ? NULL : argus_error_memory();
    struct dirent *entry;
    while (!error && (entry = readdir(proc))) {
        uint64_t pid = strtoull(entry->d_name, NULL, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && pid != (uint64_t)getpid() &&
            idmap_get(&known, pid) == IDMAP_NONE)
            error = read_process(list, &served, entry->d_name);
    }
    idmap_deinit(&known);
    idmap_deinit(&served.by_device);
    closedir(proc);
    return error;
}
