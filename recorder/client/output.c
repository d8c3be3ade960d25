#include "client/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invoker.h"

/* Fails unless `path` is free or a file that may be replaced. */
static struct argus_error *check_path(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? NULL : argus_error_os(errno, "cannot write %s", path);
    if (S_ISREG(status.st_mode))
        return NULL;
    const char *what = S_ISDIR(status.st_mode)   ? "is a directory"
                       : S_ISLNK(status.st_mode) ? "is a symbolic link"
                                                 : "is not a regular file";
    return argus_error_create(ARGUS_ERROR_USAGE, "cannot write %s: it %s", path, what);
}

/* Under sudo this process is root, but the file is for the invoking user. */
static void give_to_invoker(int fd)
{
    uid_t uid;
    gid_t gid;
    if (invoker_get(&uid, &gid) && fchown(fd, uid, gid) < 0)
        return; /* the file system has no owners */
}

struct argus_error *output_create(const char *path, struct output *ret)
{
    struct argus_error *error = check_path(path);
    if (error)
        return error;
    struct output output = {.fd = -1, .path = strdup(path)};
    if (asprintf(&output.temporary, "%s.%d.part", path, getpid()) < 0)
        output.temporary = NULL;
    if (!output.path || !output.temporary) {
        output_deinit(&output);
        return argus_error_memory();
    }
    output.fd = open(output.temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (output.fd < 0) {
        error = argus_error_os(errno, "cannot write %s", path);
        free(output.temporary);
        output.temporary = NULL;
        output_deinit(&output);
        return error;
    }
    give_to_invoker(output.fd);
    *ret = output;
    return NULL;
}

struct argus_error *output_create_keeping(const char *path, struct output *ret)
{
    struct output output;
    char *old = NULL;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    if (asprintf(&old, "%s.old", path) < 0) {
        output_deinit(&output);
        return argus_error_memory();
    }
    output.old = old;
    error = check_path(old);
    if (error)
        output_deinit(&output);
    else
        *ret = output;
    return error;
}

/* Renames an existing file at `path` to `path`.old, if it is to be kept. */
static struct argus_error *set_old_aside(struct output *output)
{
    struct argus_error *error = output->old ? check_path(output->old) : NULL;
    if (error || !output->old)
        return error;
    output->replaced = rename(output->path, output->old) == 0;
    return output->replaced || errno == ENOENT
               ? NULL
               : argus_error_os(errno, "cannot rename %s to %s", output->path, output->old);
}

static bool is_ours(const struct output *output, const char *path)
{
    struct stat file, there;
    return fstat(output->fd, &file) == 0 && stat(path, &there) == 0 &&
           file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

/* Where the file is now, as the kernel knows it; NULL: unknown, or it was removed. The caller owns
 * it. */
static char *path_now(const struct output *output)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", output->fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    return is_ours(output, path) ? strdup(path) : NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Its folder was renamed: the paths in the new one. A file that has another name than we gave it is
 * not followed. */
static void follow_temporary(struct output *output)
{
    struct output moved = {.temporary =
                               is_ours(output, output->temporary) ? NULL : path_now(output)};
    const char *now = moved.temporary, *base = base_of(output->path);
    bool followed = now && strcmp(base_of(now), base_of(output->temporary)) == 0;
    if (followed && asprintf(&moved.path, "%.*s%s", (int)(base_of(now) - now), now, base) < 0)
        moved.path = NULL; /* asprintf() leaves it undefined */
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): moved.temporary is freed below
    if (moved.path && output->old && asprintf(&moved.old, "%s.old", moved.path) < 0)
        moved.old = NULL;
    if (moved.path && !output->old == !moved.old) {
        const struct output before = *output;
        output->temporary = moved.temporary;
        output->path = moved.path;
        output->old = moved.old;
        moved = before;
    }
    free(moved.temporary);
    free(moved.path);
    free(moved.old);
}

bool output_follow(struct output *output)
{
    char *now = is_ours(output, output->path) ? NULL : path_now(output);
    if (!now)
        return false;
    free(output->path);
    output->path = now;
    return true;
}

struct argus_error *output_commit(struct output *output)
{
    follow_temporary(output);
    struct argus_error *error = check_path(output->path);
    if (!error)
        error = set_old_aside(output);
    if (!error && rename(output->temporary, output->path) < 0)
        error = argus_error_os(errno, "cannot write %s", output->path);
    if (!error) {
        free(output->temporary);
        output->temporary = NULL;
    }
    return error;
}

void output_deinit(struct output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    free(output->old);
    *output = (struct output){.fd = -1};
}

struct argus_error *output_reopen(struct output *output, const char *path)
{
    output->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return output->fd < 0 ? argus_error_os(errno, "cannot find the file that was written, %s", path)
                          : NULL;
}

void output_abandon(struct output *output)
{
    free(output->temporary);
    output->temporary = NULL;
}
