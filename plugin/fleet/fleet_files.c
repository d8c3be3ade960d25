#include "plugin/fleet/fleet_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/ends_in.h"
#include "plugin/trace_folder.h"

enum { MOST_DEPTH = 16 };

struct walk {
    struct fleet_paths *paths;
    size_t root_bytes; /* length of the named folder's path, with its slash */
};

static bool is_left_out(const char *name)
{
    static const char *const ends[] = {".argus.graph", ".argus.answers", ".argus.html", ".part"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_in(name, ends[i]))
            return true;
    return name[0] == '.';
}

static struct argus_error *put(const struct walk *walk, const char *path, const struct stat *status)
{
    struct fleet_path item = {.path = strdup(path),
                              .bytes = status->st_size,
                              .changed_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 +
                                            status->st_mtim.tv_nsec};
    const char *slash =
        strlen(path) > walk->root_bytes ? strchr(path + walk->root_bytes, '/') : NULL;
    if (slash) {
        item.machine_at = walk->root_bytes;
        item.machine_bytes = (size_t)(slash - path) - walk->root_bytes;
    }
    if (item.path && vec_push(&walk->paths->items, item))
        return NULL;
    free(item.path);
    return argus_error_memory();
}

static struct argus_error *walk_folder(const struct walk *walk, const char *path, int depth);

static struct argus_error *walk_entry(const struct walk *walk, const char *path, int depth)
{
    struct stat status, metadata;
    if (lstat(path, &status) != 0)
        return NULL; /* it has just been deleted */
    if (S_ISREG(status.st_mode))
        return put(walk, path, &status);
    if (!S_ISDIR(status.st_mode) || depth >= MOST_DEPTH)
        return NULL;
    return trace_folder_is(path, &metadata) ? put(walk, path, &metadata)
                                            : walk_folder(walk, path, depth + 1);
}

static struct argus_error *walk_folder(const struct walk *walk, const char *path, int depth)
{
    DIR *folder = opendir(path);
    struct argus_error *error = NULL;
    if (!folder)
        return depth ? NULL : argus_error_os(errno, "cannot read the folder %s", path);
    for (const struct dirent *entry; !error && (entry = readdir(folder));) {
        char *inner = NULL;
        if (is_left_out(entry->d_name))
            continue;
        error = asprintf(&inner, "%s/%s", path, entry->d_name) < 0 ? argus_error_memory()
                                                                   : walk_entry(walk, inner, depth);
        free(inner);
    }
    closedir(folder);
    return error;
}

struct argus_error *fleet_paths_add(struct fleet_paths *paths, const char *path)
{
    char *whole = realpath(path, NULL);
    struct stat status, metadata;
    if (!whole || stat(whole, &status) != 0) {
        free(whole);
        return argus_error_os(errno, "cannot read %s", path);
    }
    struct walk walk = {.paths = paths, .root_bytes = strlen(whole) + 1};
    struct argus_error *error = !S_ISDIR(status.st_mode)            ? put(&walk, whole, &status)
                                : trace_folder_is(whole, &metadata) ? put(&walk, whole, &metadata)
                                                                    : walk_folder(&walk, whole, 0);
    free(whole);
    return error;
}

static int compare_paths(const void *a, const void *b)
{
    const struct fleet_path *x = a, *y = b;
    return strcmp(x->path, y->path);
}

void fleet_paths_sort(struct fleet_paths *paths)
{
    if (paths->items.length)
        qsort(paths->items.data, paths->items.length, sizeof(*paths->items.data), compare_paths);
}

void fleet_paths_deinit(struct fleet_paths *paths)
{
    for (size_t i = 0; i < paths->items.length; i++)
        free(paths->items.data[i].path);
    vec_deinit(&paths->items);
}
