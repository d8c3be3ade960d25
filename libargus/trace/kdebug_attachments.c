/* Property lists of a kdebug file as bytes, and the images that their parser adds to the trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/file.h"
#include "trace/kdebug.h"

enum { UUID_BYTES = 16, MOST_PATH_BYTES = 1024 };

size_t argus_trace_attachments(const struct argus_trace *trace, const struct argus_attachment **ret)
{
    *ret = trace->attachments.data;
    return trace->attachments.length;
}

struct argus_error *argus_trace_read_attachment(const struct argus_trace *trace,
                                                const struct argus_attachment *attachment,
                                                uint8_t *ret)
{
    int failed = file_read(trace->fd, ret, attachment->length_bytes, attachment->offset_bytes);
    if (failed == ENODATA)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s changed after it was opened",
                                  trace->path);
    return failed ? argus_error_os(failed, "cannot read %s", trace->path) : NULL;
}

/* Text from a property list may contain anything, and is printed to a terminal. */
static void make_showable(char *text, size_t length)
{
    utf8_repair(text, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = '?';
}

struct argus_error *argus_trace_add_image(struct argus_trace *trace,
                                          const struct argus_image_entry *image)
{
    char path[MOST_PATH_BYTES];
    size_t length = strnlen(image->path, sizeof(path));
    struct argus_image_entry added = *image;
    uint32_t id;
    memcpy(path, image->path, length);
    make_showable(path, length);
    struct argus_error *error = strtab_intern(trace->strings, path, length, &id);
    if (error)
        return error;
    added.path = strtab_get(trace->strings, id);
    bool is_one = image->pid != ARGUS_ANY_PID && image->start < image->end;
    bool names = length && image->build_id_bytes == UUID_BYTES;
    bool done = (!is_one || vec_push(&trace->tables.images, added)) &&
                (!names || vec_push(&trace->named_images, added));
    return done ? NULL : argus_error_memory();
}

static int by_uuid(const void *left, const void *right)
{
    const struct argus_image_entry *a = left, *b = right;
    return memcmp(a->build_id, b->build_id, UUID_BYTES);
}

void argus_trace_name_images(struct argus_trace *trace)
{
    struct argus_image_entry *named = trace->named_images.data;
    size_t count = trace->named_images.length;
    if (!count)
        return;
    qsort(named, count, sizeof(*named), by_uuid);
    for (size_t i = 0; i < trace->tables.images.length; i++) {
        struct argus_image_entry *image = &trace->tables.images.data[i];
        const struct argus_image_entry *found = NULL;
        if (image->build_id_bytes == UUID_BYTES && strncmp(image->path, "UUID ", 5) == 0)
            found = bsearch(image, named, count, sizeof(*named), by_uuid);
        image->path = found ? found->path : image->path;
    }
}

struct argus_error *argus_trace_add_note(struct argus_trace *trace, const char *text)
{
    char note[256];
    uint32_t id;
    size_t length = strnlen(text, sizeof(note));
    memcpy(note, text, length);
    make_showable(note, length);
    struct argus_error *error = strtab_intern(trace->strings, note, length, &id);
    if (error)
        return error;
    return vec_push(&trace->tables.notes, strtab_get(trace->strings, id)) ? NULL
                                                                          : argus_error_memory();
}
