#include "plugin/steps/step_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/schema.h"
#include "base/plain_names.h"
#include "base/process_owner.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"
#include "event/binary/elf_symbols.h"
#include "event/binary/function_range.h"
#include "plugin/nearest.h"

/* To add one: a shell pattern in a line of its own, tried on a file's name and on its path. */
const char step_default_skip[] =
    /* the C library, its dynamic linker, and what belongs to compilers */
    "ld-*.so*\nld.so*\nlibc.so*\nlibc-*.so\nlibm.so*\nlibpthread*\nlibdl*\nlibrt*\nlibresolv*\n"
    "libstdc++*\nlibgcc_s*\nlibc++*\nlibgomp*\nlibasan*\nlibtsan*\nlibubsan*\n"
    "ld-musl*\n"
    /* toolkits */
    "libglib-2*\nlibgobject-2*\nlibgio-2*\nlibgmodule-2*\nlibgtk-*\nlibgdk*\nlibpango*\nlibcairo*\n"
    "libatk*\nlibQt*\nlibKF*\nlibX*\nlibxcb*\nlibxkb*\nlibwayland-*\nlibepoxy*\nlibGL*\nlibEGL*\n"
    "libfontconfig*\nlibfreetype*\nlibharfbuzz*\nlibuv.so*\nlibev.so*\nlibevent*\nlibdbus-1*\n"
    "libSDL*\nlibtinfo*\nlibncurses*\nlibreadline*\n";

void step_place_measure(struct step_place *place)
{
    uint64_t start, bytes;
    if (place->path[0] && function_range_find(place->path, place->offset, &start, &bytes))
        place->function_bytes = bytes - (place->offset - start);
}

/* --- the files of a process --- */

struct file_list {
    VEC(char *) paths;
};

static void file_list_deinit(struct file_list *list)
{
    for (size_t i = 0; i < list->paths.length; i++)
        free(list->paths.data[i]);
    vec_deinit(&list->paths);
}

static bool file_list_add(struct file_list *list, const char *path)
{
    for (size_t i = 0; i < list->paths.length; i++)
        if (strcmp(list->paths.data[i], path) == 0)
            return true;
    char *copy = strdup(path);
    if (copy && vec_push(&list->paths, copy))
        return true;
    free(copy);
    return false;
}

static struct argus_error *list_mapped(uint32_t pid, struct file_list *ret)
{
    char path[32], line[PATH_MAX + 200];
    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps && errno == ENOENT)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid);
    bool memory = true;
    while (maps && memory && fgets(line, sizeof(line), maps)) {
        char rights[8];
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*s %7s %*s %*s %*s %n", rights, &at) == 1 && at && strchr(rights, 'x') &&
            line[at] == '/')
            memory = file_list_add(ret, line + at);
    }
    bool seen = maps && ret->paths.length;
    if (maps)
        fclose(maps);
    if (!memory)
        return argus_error_memory();
    if (!maps)
        return process_owner_error("look into", pid, geteuid());
    return seen
               ? NULL
               : argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                    "process %u has mapped no program files: it is a kernel thread",
                                    pid);
}

static struct argus_error *list_files(const struct step_target *target, struct file_list *ret)
{
    if (target->pid)
        return list_mapped(target->pid, ret);
    return file_list_add(ret, target->program) ? NULL : argus_error_memory();
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the image is named by its path, its name, or the part of its name before a dot or a dash,
 * as in `argus watchflag`. */
static bool is_named(const char *path, const char *image)
{
    const char *name = last_part(path);
    size_t length = strlen(image);
    if (strcmp(path, image) == 0 || strcmp(name, image) == 0)
        return true;
    return length && strncmp(name, image, length) == 0 && strchr(".-", name[length]);
}

static const char *find_image(const struct file_list *files, const char *image)
{
    for (size_t i = 0; i < files->paths.length; i++)
        if (is_named(files->paths.data[i], image))
            return files->paths.data[i];
    return NULL;
}

/* --- functions --- */

struct function_search {
    const char *wanted;
    struct nearest nearest;
    /* the name that `nearest` found, copied, because names are only valid during the call */
    char close[200];
    uint64_t offset;
    bool found;
};

static bool look_at_function(void *context, const char *name, uint64_t file_offset)
{
    struct function_search *search = context;
    const char *before = search->nearest.best;
    if (!plain_is_cold_part(name) && argus_function_matches(search->wanted, name)) {
        search->offset = file_offset;
        search->found = true;
        return false;
    }
    nearest_offer(&search->nearest, name);
    if (search->nearest.best != before) {
        snprintf(search->close, sizeof(search->close), "%s", name);
        search->nearest.best = search->close;
    }
    return true;
}

static void search_file(const char *path, struct function_search *search)
{
    int fd = elf_open_regular(path, 0);
    if (fd < 0)
        return;
    struct elf_wanted wanted = {.name = search->wanted};
    if (elf_symbols_find(fd, path, &wanted, 1) && wanted.found) {
        search->offset = wanted.file_offset;
        search->found = true;
    } else {
        elf_symbols_each(fd, path, look_at_function, search);
    }
    close(fd);
}

static struct argus_error *no_function(const struct step_target *target, const char *image,
                                       const struct function_search *search)
{
    const char *where = image ? last_part(image) : target->pid ? "the process" : target->program;
    if (search->close[0])
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "%s has no function '%s'; did you mean '%s'?", where,
                                  search->wanted, search->close);
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND,
        "%s has no function '%s'%s (without symbols: IMAGE+OFFSET, the offset "
        "in the file)",
        where, search->wanted, image || target->pid ? "" : "; of a library: LIBRARY:FUNCTION");
}

static struct argus_error *find_function(const struct step_target *target,
                                         const struct file_list *files, const char *image,
                                         const char *name, struct step_place *ret)
{
    struct function_search search = {.wanted = name};
    nearest_init(&search.nearest, name);
    for (size_t i = 0; i < files->paths.length && !search.found; i++) {
        const char *path = files->paths.data[i];
        if (image && strcmp(path, image) != 0)
            continue;
        search_file(path, &search);
        if (search.found)
            snprintf(ret->path, sizeof(ret->path), "%s", path);
    }
    if (!search.found)
        return no_function(target, image, &search);
    ret->offset = search.offset;
    return NULL;
}

/* --- parsing --- */

static bool parse_number(const char *text, uint64_t *ret)
{
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

/* The colon between image and function, not one of C++'s. */
static char *find_colon(char *text)
{
    for (char *at = text + 1; text[0] && at[0]; at++)
        if (at[0] == ':' && at[-1] != ':' && at[1] && at[1] != ':')
            return at;
    return NULL;
}

/* A library that is not mapped yet is found by its path. */
static const char *image_of(const struct step_target *target, struct file_list *files,
                            const char *image)
{
    const char *path = find_image(files, image);
    char *whole = path || target->pid ? NULL : realpath(image, NULL);
    if (whole && file_list_add(files, whole))
        path = find_image(files, whole);
    free(whole);
    return path;
}

static struct argus_error *parse_in_files(char *text, const struct step_target *target,
                                          struct file_list *files, struct step_place *ret)
{
    uint64_t offset = 0;
    char *plus = strrchr(text, '+'), *colon = find_colon(text);
    if (plus && plus > text && parse_number(plus + 1, &offset))
        *plus = '\0';
    else
        plus = NULL;
    const char *image = plus && !colon ? image_of(target, files, text) : NULL;
    if (image) {
        snprintf(ret->path, sizeof(ret->path), "%s", image);
        ret->offset = offset;
        return NULL;
    }
    if (colon) {
        *colon = '\0';
        image = image_of(target, files, text);
        if (!image)
            return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no file '%s' is mapped%s", text,
                                      target->pid ? " in the process" : "; give its path");
        text = colon + 1;
    }
    struct argus_error *error = find_function(target, files, image, text, ret);
    ret->offset += plus ? offset : 0;
    return error;
}

struct argus_error *step_place_parse(const char *text, const struct step_target *target,
                                     struct step_place *ret)
{
    struct file_list files = {0};
    memset(ret, 0, sizeof(*ret));
    if (parse_number(text, &ret->offset)) {
        if (target->pid)
            return NULL;
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "an address needs a running process (--process); for a new process write IMAGE+OFFSET");
    }
    char *copy = strdup(text);
    if (!copy)
        return argus_error_memory();
    struct argus_error *error = list_files(target, &files);
    if (!error)
        error = parse_in_files(copy, target, &files, ret);
    file_list_deinit(&files);
    free(copy);
    if (!error)
        step_place_measure(ret);
    return error;
}
