/* Finds CPython by the files that contain its runtime: a program, or a library that a program is
 * linked with. A number in the file tells the version. A version that is not in
 * interpreter_layouts.def is ignored.
 *
 * Search places: the directories of PATH and of the command that is to be recorded, and the lib
 * directory next to each bin; the loader's directories; and the mappings of all processes that this
 * user may inspect.
 */
#include "plugin/probes/interpreters.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "argus/data_symbols.h"
#include "base/vec.h"
#include "plugin/probes/mapped_files.h"

#define VERSION_SYMBOL "Py_Version"

static const struct {
    uint32_t version;
    struct interpreter_layout layout;
} layouts[] = {
#define INTERPRETER(number, ...) {number, {__VA_ARGS__}},
#include "plugin/interpreter_layouts.def"
#undef INTERPRETER
};

/* Beginnings of such files' names, up to the version. */
static const char *const names[] = {"python3.", "libpython3."};

struct finder {
    struct recorder_client *client; /* borrowed */
    struct argus_error *error;
    VEC(uint64_t) inodes; /* of files that were examined, mixed with their device */
    uint32_t sent;
};

/* --- one file --- */

static bool is_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static const struct interpreter_layout *layout_of(uint64_t version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        if (layouts[i].version == version >> 16)
            return &layouts[i].layout;
    return NULL;
}

/* The variables that are needed from a file. */
struct variables {
    uint64_t runtime, code_type, text_type, bytes_type, version;
};

static bool take_variable(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    static const struct {
        const char *name;
        size_t at;
    } wanted[] = {
        {"_PyRuntime", offsetof(struct variables, runtime)},
        {"PyCode_Type", offsetof(struct variables, code_type)},
        {"PyUnicode_Type", offsetof(struct variables, text_type)},
        {"PyBytes_Type", offsetof(struct variables, bytes_type)},
        {VERSION_SYMBOL, offsetof(struct variables, version)},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (strcmp(name, wanted[i].name) == 0)
            memcpy((char *)context + wanted[i].at, &symbol->address, sizeof(symbol->address));
    return true;
}

static bool has_all(const struct variables *found)
{
    return found->runtime && found->code_type && found->text_type && found->bytes_type &&
           found->version;
}

/* False: it is no interpreter, or an unknown version. */
static bool look_into(const char *path, struct interpreter_spec *ret)
{
    struct argus_data_image image;
    struct variables found = {0};
    uint64_t version = 0;
    struct argus_error *error = argus_data_image_read(path, &image);
    if (!error)
        error = argus_data_file_symbols_each(path, take_variable, &found);
    bool good = !error && image.is_64_bit && has_all(&found) &&
                argus_data_file_read(path, found.version, &version, sizeof(version));
    argus_error_destroy(error);
    const struct interpreter_layout *layout = good ? layout_of(version) : NULL;
    if (!layout || strlen(path) >= sizeof(ret->image))
        return false;
    *ret = (struct interpreter_spec){
        .runtime = found.runtime - image.code_address,
        .code_type = found.code_type - image.code_address,
        .text_type = found.text_type - image.code_address,
        .bytes_type = found.bytes_type - image.code_address,
        .code_offset = image.code_offset,
        .layout = *layout,
        .build_id_bytes = image.build_id_bytes,
    };
    memcpy(ret->build_id, image.build_id, sizeof(ret->build_id));
    memcpy(ret->image, path, strlen(path));
    return true;
}

static bool is_new(struct finder *finder, const struct stat *status)
{
    uint64_t key = (uint64_t)status->st_ino ^ (uint64_t)status->st_dev << 40;
    for (size_t i = 0; i < finder->inodes.length; i++)
        if (finder->inodes.data[i] == key)
            return false;
    if (!vec_push(&finder->inodes, key))
        finder->error = argus_error_memory();
    return !finder->error;
}

/* `name`: the file's path in the processes' mappings. */
static void take_file(struct finder *finder, const char *path, const char *name)
{
    struct interpreter_spec spec;
    struct stat status;
    if (finder->error || finder->sent == INTERPRETER_LIMIT || !is_name(name) ||
        stat(path, &status) < 0 || !S_ISREG(status.st_mode) || !is_new(finder, &status) ||
        !look_into(path, &spec))
        return;
    snprintf(spec.image, sizeof(spec.image), "%s", name);
    finder->error = recorder_interpreter(finder->client, &spec);
    finder->sent++;
}

/* --- where shells and the loader search --- */

static void look_in(struct finder *finder, const char *directory)
{
    DIR *opened = opendir(directory);
    struct dirent *entry;
    char path[PATH_MAX], real[PATH_MAX];
    while (opened && (entry = readdir(opened)))
        if (is_name(entry->d_name) &&
            snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) < (int)sizeof(path) &&
            realpath(path, real))
            take_file(finder, real, real);
    if (opened)
        closedir(opened);
}

/* Examines a directory of programs, and the directory of libraries next to it. */
static void look_next_to(struct finder *finder, const char *directory)
{
    char path[PATH_MAX];
    look_in(finder, directory);
    if (snprintf(path, sizeof(path), "%s/../lib", directory) < (int)sizeof(path))
        look_in(finder, path);
}

static void look_in_path(struct finder *finder)
{
    const char *variable = getenv("PATH");
    char *copy = strdup(variable ? variable : ""), *rest = copy, *directory;
    while (copy && (directory = strsep(&rest, ":")))
        if (directory[0] == '/')
            look_next_to(finder, directory);
    free(copy);
}

static void look_at_command(struct finder *finder, const char *program)
{
    char real[PATH_MAX];
    char *slash = program && realpath(program, real) ? strrchr(real, '/') : NULL;
    if (!slash)
        return;
    *slash = '\0';
    look_next_to(finder, real);
}

static void look_where_loader_does(struct finder *finder)
{
    static const char *const directories[] = {
        "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        look_in(finder, directories[i]);
}

static void look_at_mapping(void *context, const struct mapped_file *mapped)
{
    take_file(context, mapped->real, mapped->path);
}

struct argus_error *interpreters_send(struct recorder_client *client, const char *program)
{
    struct finder finder = {.client = client};
    look_at_command(&finder, program);
    mapped_files_each(look_at_mapping, &finder);
    look_in_path(&finder);
    look_where_loader_does(&finder);
    vec_deinit(&finder.inodes);
    return finder.error;
}
