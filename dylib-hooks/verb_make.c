#include "hook_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library.h"
#include "original.h"
#include "own_paths.h"

#define RUNTIME_ELF   "libargus-hook.so.0"
#define RUNTIME_MACHO "@rpath/libargus-hook.dylib"

static struct argus_error *write_all(int fd, const uint8_t *bytes, size_t count, const char *path)
{
    while (count) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return argus_error_os(errno, "cannot write %s", path);
        bytes += written;
        count -= (size_t)written;
    }
    return NULL;
}

struct argus_error *write_file(const char *path, const uint8_t *bytes, size_t count)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return argus_error_os(errno, "cannot replace %s", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
    if (fd < 0)
        return argus_error_os(errno, "cannot create %s", path);
    struct argus_error *error = write_all(fd, bytes, count, path);
    if (close(fd) < 0 && !error)
        error = argus_error_os(errno, "cannot write %s", path);
    return error;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The dependency by which the library loads the original. A table that names a path means that
 * file; a program needs none. */
static const char *original_name(const struct prepared *prepared, bool is_macho)
{
    const struct image *image = prepared->image;
    if (!*image->name)
        return NULL;
    return !is_macho && strchr(prepared->name, '/') ? prepared->name : image->name;
}

/* How the runtime finds the image: a library by its file name (Mach-O: its whole install name), a
 * program by a slash and the name of its file, because programs that it starts get the library as
 * well. */
static struct argus_error *loaded_name(const struct image *image, char **ret)
{
    bool is_program = !*image->name;
    const char *name = image->format == IMAGE_MACHO ? image->name : file_name(image->name);
    if (is_program && image->format == IMAGE_ELF) {
        if (asprintf(ret, "/%s", file_name(image->path)) < 0)
            *ret = NULL;
    } else {
        *ret = strdup(name);
    }
    return *ret ? NULL : argus_error_memory();
}

/* Replaces the original: the original is loaded under another name, and this library under its
 * name. */
static struct argus_error *replace_names(const struct hook_options *options,
                                         const struct prepared *prepared,
                                         struct library_options *library, struct original *original)
{
    if (!*prepared->image->name)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%s is a program: only libraries can be replaced",
                                  prepared->image->path);
    struct argus_error *error = original_keep(prepared->image, options->replace, original);
    library->own_name = prepared->image->name;
    library->original = original->name;
    library->versions = (const char *const *)original->versions;
    return error;
}

struct argus_error *write_library(const struct hook_options *options,
                                  const struct prepared *prepared, const char *path)
{
    bool is_macho = prepared->image->format == IMAGE_MACHO;
    char *folder = NULL;
    char *name = NULL;
    uint8_t *plan = NULL;
    struct original original = {0};
    struct library_bytes made = {0};
    struct library_options library = {
        .arch = prepared->image->arch,
        .own_name = file_name(path),
        .original = original_name(prepared, is_macho),
        .runtime = is_macho ? RUNTIME_MACHO : RUNTIME_ELF,
    };
    struct argus_error *error = own_runtime_folder(&folder);
    library.runtime_path = folder;
    if (!error && options->replace)
        error = replace_names(options, prepared, &library, &original);
    if (!error)
        error = loaded_name(prepared->image, &name);
    if (!error)
        error = plan_write(prepared->image, name, &prepared->hooks, &plan, &library.plan_bytes);
    library.plan = plan;
    if (!error)
        error = is_macho ? macho_library_make(&library, &made) : elf_library_make(&library, &made);
    if (!error)
        error = write_file(path, made.bytes.data, made.bytes.length);
    vec_deinit(&made.bytes);
    original_deinit(&original);
    free(plan);
    free(name);
    free(folder);
    return error;
}

static struct argus_error *only_one(const struct hook_options *options, bool more)
{
    if (!more || options->image)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "%s has hooks for several images: a library is for one, so put the "
                              "others into a table of their own",
                              options->words[0]);
}

struct argus_error *verb_make(const struct hook_options *options)
{
    struct prepared prepared;
    bool more = false;
    char path[PATH_MAX];
    if (!options->output == !options->replace)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the output is missing: give -o FILE or --replace=DIR");
    struct argus_error *error = prepare(options, options->words[0], 0, &prepared, &more);
    if (error)
        return error;
    if (options->replace)
        snprintf(path, sizeof(path), "%s/%s", options->replace, file_name(prepared.image->name));
    else
        snprintf(path, sizeof(path), "%s", options->output);
    error = only_one(options, more);
    if (!error)
        error = write_library(options, &prepared, path);
    if (!error)
        printf("%s: %zu hook%s in %s\n", path, prepared.hooks.hooks.length,
               prepared.hooks.hooks.length == 1 ? "" : "s", prepared.image->path);
    prepared_deinit(&prepared);
    return error;
}
