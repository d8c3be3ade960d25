/* Reads build IDs from ELF files after the recording. The unprivileged front end does this, so that
 * root parses no ELF file. */
#include "argus/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "event/binary/elf_file.h"
#include "event/binary/live_file.h"
#include "trace/image_file.h"

typedef VEC(struct argus_image_entry) image_vec;

/* A file that changed since may not be the one that was executed. */
static uint64_t recorded_until_ns(const struct argus_trace *trace)
{
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    return argus_trace_ns_to_wall_ns(trace, end_ns);
}

/* Opens the file at its path or, if it was deleted or is in another mount namespace, through its
 * process. */
static void find_id(struct argus_image_entry *image, uint64_t until_ns)
{
    bool denied;
    image->build_id_bytes = elf_file_build_id(image->path, until_ns, image->inode, image->build_id);
    int fd = image->build_id_bytes ? -1 : live_file_open(image, &denied);
    if (fd >= 0)
        image->build_id_bytes = elf_file_build_id_fd(fd, image->build_id);
}

/* One entry for each file without a build ID in the trace and with one on disk. */
static bool find_ids(const struct argus_trace *trace, image_vec *ret)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images);
    for (size_t i = 0; i < count; i++)
        if (!images[i].build_id_bytes && images[i].path[0] == '/' && !vec_push(ret, images[i]))
            return false;
    if (ret->length)
        qsort(ret->data, ret->length, sizeof(*ret->data), image_file_compare);

    size_t kept = 0;
    uint64_t until_ns = recorded_until_ns(trace);
    for (size_t i = 0; i < ret->length; i++) {
        struct argus_image_entry image = ret->data[i];
        if (i && !image_file_compare(&ret->data[i - 1], &image))
            continue;
        find_id(&image, until_ns);
        if (image.build_id_bytes)
            ret->data[kept++] = image;
    }
    ret->length = kept;
    return true;
}

static struct argus_error *append(const char *path, const image_vec *ids)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot add build ids to %s", path);
    struct argus_writer *writer = NULL;
    struct argus_error *error = argus_writer_append(fd, &writer);
    if (!error)
        error = argus_writer_build_ids(writer, ids->data, ids->length);
    argus_writer_destroy(writer);
    close(fd);
    return error;
}

struct argus_error *argus_build_ids_append(const char *path)
{
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    image_vec ids = {0};
    if (!find_ids(trace, &ids))
        error = argus_error_memory();
    else if (ids.length)
        error = append(path, &ids);
    vec_deinit(&ids);
    argus_trace_close(trace);
    return error;
}
