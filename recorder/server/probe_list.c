#include "server/probe_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compat.h"

#define ABSENT_LIMIT 64u

/* The sender must have been able to open it for reading. */
static struct argus_error *check_file(int fd, uint64_t offset, struct stat *ret)
{
    int flags = fcntl(fd, F_GETFL);
    if (fstat(fd, ret) < 0 || flags < 0)
        return argus_error_os(errno, "cannot examine the file to probe");
    if (!S_ISREG(ret->st_mode) || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "only a regular file that is open for reading can be probed");
    if (offset >= (uint64_t)ret->st_size)
        return argus_error_create(ARGUS_ERROR_USAGE, "a probe is beyond the end of its file");
    return NULL;
}

static bool find_file(const struct probe_list *list, const struct stat *status, uint32_t *ret)
{
    for (size_t i = 0; i < list->files.length; i++) {
        const struct probe_file *file = &list->files.data[i];
        *ret = (uint32_t)i;
        if (file->device == (uint64_t)status->st_dev && file->inode == status->st_ino)
            return true;
    }
    return false;
}

/* Takes `fd`. */
static bool keep_file(struct probe_list *list, const struct stat *status, int fd, uint32_t *ret)
{
    struct probe_file file = {.fd = fd, .device = status->st_dev, .inode = status->st_ino};
    bool known = find_file(list, status, ret);
    bool kept = known;
    if (!known) {
        *ret = (uint32_t)list->files.length;
        kept = vec_push(&list->files, file);
    }
    if (known || !kept)
        close(fd);
    return kept;
}

static void free_names(struct argus_probe_entry *entry)
{
    free((char *)entry->library);
    free((char *)entry->symbol);
    free((char *)entry->label);
}

static bool keep_probe(struct probe_list *list, const struct request_probe *request, uint32_t file)
{
    struct probe probe = {
        .file = file,
        .offset = request->offset,
        .spec = request->spec,
        .entry =
            {
                .number = request->number,
                .shape = request->spec.shape,
                .space = request->spec.space,
                .file_offset = request->offset,
                .library = strdup(request->library),
                .symbol = strdup(request->symbol),
                .label = strdup(request->label),
            },
    };
    if (probe.entry.library && probe.entry.symbol && probe.entry.label &&
        vec_push(&list->probes, probe))
        return true;
    free_names(&probe.entry);
    return false;
}

static struct argus_error *check_room(const struct probe_list *list,
                                      const struct request_probe *request)
{
    if (list->probes.length >= PROBE_LIMIT + PROBE_HOOK_LIMIT)
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %u hooks", PROBE_HOOK_LIMIT);
    for (size_t i = 0; i < list->probes.length; i++)
        if (list->probes.data[i].entry.number == request->number)
            return argus_error_create(ARGUS_ERROR_USAGE, "probe %u exists already",
                                      request->number);
    return NULL;
}

struct argus_error *probe_list_add(struct probe_list *list, const struct request_probe *request,
                                   int fd)
{
    struct stat status;
    uint32_t file;
    struct argus_error *error = check_file(fd, request->offset, &status);
    if (!error)
        error = check_room(list, request);
    if (error) {
        close(fd);
        return error;
    }
    if (!keep_file(list, &status, fd, &file) || !keep_probe(list, request, file))
        return argus_error_memory();
    return NULL;
}

struct argus_error *probe_list_add_absent(struct probe_list *list, const char *text)
{
    if (list->absent.length >= ABSENT_LIMIT)
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %u remarks about probes",
                                  ABSENT_LIMIT);
    char *copy = strdup(text);
    bool kept = copy && vec_push(&list->absent, copy);
    if (!kept)
        free(copy);
    return kept ? NULL : argus_error_memory();
}

struct argus_error *probe_list_add_interpreter(struct probe_list *list,
                                               const struct interpreter_spec *spec)
{
    if (list->interpreters.length >= INTERPRETER_LIMIT)
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %d files of interpreters",
                                  INTERPRETER_LIMIT);
    return vec_push(&list->interpreters, *spec) ? NULL : argus_error_memory();
}

void probe_list_remove(struct probe_list *list, size_t index)
{
    struct probe *probe = &list->probes.data[index];
    free_names(&probe->entry);
    list->probes.length--;
    memmove(probe, probe + 1, (list->probes.length - index) * sizeof(*probe));
}

void probe_list_close_files(struct probe_list *list)
{
    for (size_t i = 0; i < list->files.length; i++) {
        if (list->files.data[i].fd >= 0)
            close(list->files.data[i].fd);
        list->files.data[i].fd = -1;
    }
}

struct argus_error *probe_list_write(const struct probe_list *list, bool only_hooks,
                                     struct argus_writer *writer)
{
    size_t count = 0;
    struct argus_probe_entry *entries = calloc(list->probes.length + 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    for (size_t i = 0; i < list->probes.length; i++)
        if (!only_hooks || list->probes.data[i].spec.flags & PROBE_HOOK)
            entries[count++] = list->probes.data[i].entry;
    struct argus_error *error = count ? argus_writer_probes(writer, entries, count) : NULL;
    free(entries);
    return error;
}

void probe_list_deinit(struct probe_list *list)
{
    probe_list_close_files(list);
    for (size_t i = 0; i < list->probes.length; i++)
        free_names(&list->probes.data[i].entry);
    for (size_t i = 0; i < list->absent.length; i++)
        free(list->absent.data[i]);
    vec_deinit(&list->probes);
    vec_deinit(&list->files);
    vec_deinit(&list->absent);
    vec_deinit(&list->interpreters);
}
