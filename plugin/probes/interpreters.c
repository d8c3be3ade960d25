/* Finds CPython, PHP and Ruby by the files that contain their runtime: a program, or a library that
 * a program is linked with. A number in the file tells the version (PHP: interpreter_php.h). A
 * version that is not in interpreter_layouts.def is ignored.
 *
 * Search places: the directories of PATH and of the command that is to be recorded, and the lib
 * directory next to each bin; the loader's directories; and the mappings of all processes that this
 * user may inspect.
 */
#include "plugin/probes/interpreters.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "argus/data_symbols.h"
#include "base/vec.h"
#include "event/binary/elf_symbols.h"
#include "plugin/probes/interpreter_php.h"
#include "plugin/probes/mapped_files.h"

#define VERSION_SYMBOL "Py_Version"

static const struct {
    uint32_t version;
    struct interpreter_layout layout;
} layouts[] = {
#define INTERPRETER(number, ...) {number, {__VA_ARGS__}},
#include "argus/interpreter_layouts.def"
#undef INTERPRETER
};

/* Beginnings of such files' names, of CPython up to the version. */
static const struct {
    const char *text;
    enum interpreter_kind kind;
} names[] = {
    {"python3.", INTERPRETER_CPYTHON}, {"libpython3.", INTERPRETER_CPYTHON},
    {"php", INTERPRETER_ZEND},         {"libphp", INTERPRETER_ZEND},
    {"ruby", INTERPRETER_YARV},        {"libruby", INTERPRETER_YARV},
};

struct finder {
    struct recorder_client *client; /* borrowed */
    struct argus_error *error;
    VEC(uint64_t) inodes; /* of files that were examined, mixed with their device */
    uint32_t sent;
};

/* --- one file --- */

/* INTERPRETER_KINDS: it is no such name. */
static enum interpreter_kind kind_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(name, names[i].text, strlen(names[i].text)) == 0)
            return names[i].kind;
    return INTERPRETER_KINDS;
}

static const struct interpreter_layout *layout_of(enum interpreter_kind kind, uint64_t version)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        if (layouts[i].layout.kind == kind && layouts[i].version == version)
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

static bool take_cpython(const char *path, const struct argus_data_image *image,
                         struct interpreter_spec *ret)
{
    struct variables found = {0};
    uint64_t version = 0;
    struct argus_error *error = argus_data_file_symbols_each(path, take_variable, &found);
    bool good = !error && has_all(&found) &&
                argus_data_file_read(path, found.version, &version, sizeof(version));
    argus_error_destroy(error);
    const struct interpreter_layout *layout =
        good ? layout_of(INTERPRETER_CPYTHON, version >> 16) : NULL;
    if (!layout)
        return false;
    ret->runtime = found.runtime - image->code_address;
    ret->code_type = found.code_type - image->code_address;
    ret->text_type = found.text_type - image->code_address;
    ret->bytes_type = found.bytes_type - image->code_address;
    ret->layout = *layout;
    return true;
}

static bool take_php(const char *path, const struct argus_data_image *image,
                     struct interpreter_spec *ret)
{
    struct interpreter_php found;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        if (layouts[i].layout.kind != INTERPRETER_ZEND ||
            !interpreter_php_find(path, layouts[i].version, &found))
            continue;
        ret->runtime = found.globals - image->code_address;
        ret->function = found.function - image->code_address;
        ret->layout = layouts[i].layout;
        return true;
    }
    return false;
}

static bool find_variable(const char *path, const char *name, uint64_t *ret)
{
    struct argus_data_symbol symbol = {0};
    bool found = false;
    struct argus_error *error = argus_data_file_symbol_find(path, name, &symbol, &found);
    found &= !error;
    argus_error_destroy(error);
    *ret = symbol.address;
    return found;
}

/* Offset in the file. */
static bool find_function(const char *path, const char *name, uint64_t *ret)
{
    struct elf_wanted wanted = {.name = name};
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool found = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 elf_symbols_find(fd, path, &wanted, 1) && wanted.found;
    if (fd >= 0)
        close(fd);
    *ret = wanted.file_offset;
    return found;
}

static bool take_ruby(const char *path, const struct argus_data_image *image,
                      struct interpreter_spec *ret)
{
    uint64_t machine, version_at, function;
    int32_t version[2]; /* major, minor */
    if (!find_variable(path, "ruby_api_version", &version_at) ||
        !argus_data_file_read(path, version_at, version, sizeof(version)))
        return false;
    const struct interpreter_layout *layout =
        layout_of(INTERPRETER_YARV, (uint64_t)(uint32_t)version[0] << 8 | (uint32_t)version[1]);
    if (!layout || !find_variable(path, "ruby_current_vm_ptr", &machine) ||
        !find_function(path, "rb_vm_exec", &function))
        return false;
    ret->runtime = machine - image->code_address;
    ret->function = function - image->code_offset;
    ret->layout = *layout;
    return true;
}

/* False: it is no interpreter, or an unknown version. */
static bool look_into(const char *path, enum interpreter_kind kind, struct interpreter_spec *ret)
{
    static bool (*const takers[INTERPRETER_KINDS])(
        const char *path, const struct argus_data_image *image, struct interpreter_spec *ret) = {
        [INTERPRETER_CPYTHON] = take_cpython,
        [INTERPRETER_ZEND] = take_php,
        [INTERPRETER_YARV] = take_ruby,
    };
    struct argus_data_image image;
    struct argus_error *error = argus_data_image_read(path, &image);
    bool good = !error && image.is_64_bit && strlen(path) < sizeof(ret->image);
    argus_error_destroy(error);
    if (!good)
        return false;
    *ret = (struct interpreter_spec){
        .code_offset = image.code_offset,
        .build_id_bytes = image.build_id_bytes,
    };
    if (!takers[kind](path, &image, ret))
        return false;
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
    enum interpreter_kind kind = kind_of(name);
    if (finder->error || finder->sent == INTERPRETER_LIMIT || kind == INTERPRETER_KINDS ||
        stat(path, &status) < 0 || !S_ISREG(status.st_mode) || !is_new(finder, &status) ||
        !look_into(path, kind, &spec))
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
        if (kind_of(entry->d_name) != INTERPRETER_KINDS &&
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
