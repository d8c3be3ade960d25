/* The library contains the plan as one block, which begins with a magic number at a multiple of 8
 * (dylib-hooks/plan.h). The file comes from a user, so every offset in it is checked. */
#include "plugin/probes/hook_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dylib-hooks/plan.h"

struct plan_view {
    const uint8_t *bytes;
    struct hook_plan plan;
};

static bool find_plan(const uint8_t *file, size_t bytes, struct plan_view *ret)
{
    for (size_t at = 0; at + sizeof(ret->plan) <= bytes; at += 8) {
        uint64_t magic;
        memcpy(&magic, file + at, sizeof(magic));
        if (magic != HOOK_PLAN_MAGIC)
            continue;
        ret->bytes = file + at;
        memcpy(&ret->plan, file + at, sizeof(ret->plan));
        const struct hook_plan *plan = &ret->plan;
        return plan->bytes <= bytes - at && plan->entries <= plan->bytes &&
               plan->entry_count <= (plan->bytes - plan->entries) / sizeof(struct hook_entry);
    }
    return false;
}

static void copy_text(const struct plan_view *view, uint32_t offset, size_t room, char *ret)
{
    size_t most = offset < view->plan.bytes ? view->plan.bytes - offset : 0;
    snprintf(ret, room, "%.*s", (int)(most < room ? most : room),
             most ? (const char *)view->bytes + offset : "");
}

static struct argus_error *send_entry(struct recorder_client *client, const struct plan_view *view,
                                      uint32_t index, int fd)
{
    struct hook_entry entry;
    memcpy(&entry, view->bytes + view->plan.entries + index * sizeof(entry), sizeof(entry));
    struct request_probe request = {.number = entry.number,
                                    .spec = {.shape = entry.shape, .flags = PROBE_HOOK}};
    copy_text(view, view->plan.image, sizeof(request.library), request.library);
    copy_text(view, entry.place, sizeof(request.symbol), request.symbol);
    copy_text(view, entry.label, sizeof(request.label), request.label);
    return recorder_probe(client, &request, fd);
}

static struct argus_error *send_plan(struct recorder_client *client, const char *path, int fd,
                                     const uint8_t *file, size_t bytes)
{
    struct plan_view view;
    struct argus_error *error = NULL;
    if (!find_plan(file, bytes, &view))
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "%s is not a library with hooks: argus-hook makes them", path);
    for (uint32_t i = 0; i < view.plan.entry_count && !error; i++)
        error = send_entry(client, &view, i, fd);
    return error;
}

struct argus_error *hook_names_send(struct recorder_client *client, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0 || fstat(fd, &status) < 0) {
        struct argus_error *error = argus_error_os(errno, "cannot open %s", path);
        if (fd >= 0)
            close(fd);
        return error;
    }
    size_t bytes = (size_t)status.st_size;
    void *file = mmap(NULL, bytes ? bytes : 1, PROT_READ, MAP_PRIVATE, fd, 0);
    struct argus_error *error = file == MAP_FAILED ? argus_error_os(errno, "cannot map %s", path)
                                                   : send_plan(client, path, fd, file, bytes);
    if (file != MAP_FAILED)
        munmap(file, bytes ? bytes : 1);
    close(fd);
    return error;
}

char *hook_preload(const char *const *libraries, size_t count)
{
    const char *before = getenv("LD_PRELOAD");
    char *list = NULL;
    for (size_t i = 0; i < count && libraries[i]; i++) {
        char *longer, *path = realpath(libraries[i], NULL);
        int failed =
            !path || asprintf(&longer, "%s%s%s", list ? list : "", list ? ":" : "", path) < 0;
        free(path);
        if (failed)
            break;
        free(list);
        list = longer;
    }
    char *all = NULL;
    if (list && before && *before && asprintf(&all, "%s:%s", list, before) > 0) {
        free(list);
        return all;
    }
    return list;
}
