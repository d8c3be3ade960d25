/* The loader searches a few directories and those of /etc/ld.so.conf. Running programs may have
 * mapped other copies, e.g. their own or one in a container. A program that starts later with its
 * own copy in a place of its own is not found; its file can be named by path in a user's probe
 * table. Users see only the mappings of their own processes. */
#include "plugin/probes/probe_files.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/probes/mapped_files.h"

struct finder {
    const char *const *libraries;
    size_t count;
    struct probe_files *files;
    VEC(uint64_t) passed; /* inodes of mappings that were examined */
    bool no_memory;
};

static bool is_known(const struct finder *finder, const struct stat *status)
{
    for (size_t i = 0; i < finder->files->files.length; i++) {
        const struct probe_library_file *file = &finder->files->files.data[i];
        if (file->device == (uint64_t)status->st_dev && file->inode == status->st_ino)
            return true;
    }
    return false;
}

/* Opens `path`, and keeps it as a copy of `library`; `name` is the path to report. */
static void take_file(struct finder *finder, size_t library, const char *path, const char *name)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || is_known(finder, &status)) {
        close(fd);
        return;
    }
    struct probe_library_file file = {
        .fd = fd,
        .path = strdup(name),
        .library = library,
        .device = status.st_dev,
        .inode = status.st_ino,
    };
    if (file.path && vec_push(&finder->files->files, file))
        return;
    finder->no_memory = true;
    free(file.path);
    close(fd);
}

/* --- where the loader searches --- */

static void look_in(struct finder *finder, const char *directory)
{
    for (size_t i = 0; i < finder->count; i++) {
        char path[PATH_MAX], real[PATH_MAX];
        const char *library = finder->libraries[i];
        if (strchr(library, '/') ||
            snprintf(path, sizeof(path), "%s/%s", directory, library) >= (int)sizeof(path))
            continue;
        take_file(finder, i, path, realpath(path, real) ? real : path);
    }
}

static void look_in_list(struct finder *finder, const char *path)
{
    char line[PATH_MAX];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "# \t\r\n")] = '\0';
        if (line[0] == '/')
            look_in(finder, line);
    }
    if (file)
        fclose(file);
}

static void look_where_loader_does(struct finder *finder)
{
    static const char *const directories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib",
                                              "/usr/local/lib"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        look_in(finder, directories[i]);
    glob_t found;
    if (glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            look_in_list(finder, found.gl_pathv[i]);
        globfree(&found);
    }
    look_in_list(finder, "/etc/ld.so.conf");
    for (size_t i = 0; i < finder->count; i++)
        if (strchr(finder->libraries[i], '/'))
            take_file(finder, i, finder->libraries[i], finder->libraries[i]);
}

/* --- what is mapped --- */

/* Whether `path` is a version of `library`: libglib-2.0.so.0.7400.6 is a libglib-2.0.so.0. */
static bool is_library(const char *path, const char *library)
{
    const char *slash = strrchr(path, '/');
    const char *name = strchr(library, '/') || !slash ? path : slash + 1;
    size_t length = strlen(library);
    return strncmp(name, library, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool was_passed(struct finder *finder, uint64_t inode)
{
    for (size_t i = 0; i < finder->passed.length; i++)
        if (finder->passed.data[i] == inode)
            return true;
    finder->no_memory |= !vec_push(&finder->passed, inode);
    return false;
}

/* Compares inodes without their device. A copy with the same inode number as another file is on a
 * different file system; then the search in the loader's directories finds it. */
static void look_at_mapping(void *context, const struct mapped_file *mapped)
{
    struct finder *finder = context;
    for (size_t i = 0; i < finder->count; i++)
        if (is_library(mapped->path, finder->libraries[i]) && !was_passed(finder, mapped->inode))
            take_file(finder, i, mapped->real, mapped->path);
}

struct argus_error *probe_files_find(const char *const *libraries, size_t count,
                                     struct probe_files *ret)
{
    struct finder finder = {.libraries = libraries, .count = count, .files = ret};
    *ret = (struct probe_files){0};
    look_where_loader_does(&finder);
    mapped_files_each(look_at_mapping, &finder);
    vec_deinit(&finder.passed);
    if (!finder.no_memory)
        return NULL;
    probe_files_deinit(ret);
    return argus_error_memory();
}

void probe_files_deinit(struct probe_files *files)
{
    for (size_t i = 0; i < files->files.length; i++) {
        close(files->files.data[i].fd);
        free(files->files.data[i].path);
    }
    vec_deinit(&files->files);
}
