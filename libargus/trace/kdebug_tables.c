/* Tables contained in the records of a kdebug file: call stacks (kperf), images (dyld), and the
 * strings that images refer to.
 *
 * dyld writes two records per image (dyld-1378 dyld/Tracing.cpp:55): A has the UUID, the load
 * address and the file system, B has the file and the number of a string, the path. Older versions
 * have no path. No version has the size, so an image is assumed to extend to the next image of its
 * process, up to a maximum size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/kdebug.h"
#include "trace/kdebug_stack.h"
#include "trace/kdebug_strings.h"

#define ID_IMAGE_A        0x1f050000u
#define ID_IMAGE_B        0x1f050004u
#define ID_IMAGE_32_A     0x1f050008u
#define ID_IMAGE_32_B     0x1f05000cu
#define ID_SHARED_CACHE_A 0x1f050028u

enum { UUID_BYTES = 16 };
#define LONGEST_IMAGE_BYTES (256ull << 20)

/* By thread: an image of which only the first record was read. */
struct pending {
    struct argus_image_entry image;
    bool has_image;
};

struct image_path {
    uint64_t string; /* number of the path's string for the trace's image i; 0: none */
};

struct kdebug_tables {
    struct argus_trace *trace; /* borrowed */
    struct kdebug_stacks stacks;
    struct kdebug_strings strings;
    VEC(struct pending) pending;
    VEC(struct image_path) paths;
    struct idmap pending_by_tid, pid_by_tid, text_by_string;
    size_t first_image; /* index of the first image in the trace's table */
};

struct kdebug_tables *kdebug_tables_create(struct argus_trace *trace)
{
    struct kdebug_tables *tables = calloc(1, sizeof(*tables));
    if (!tables)
        return NULL;
    tables->trace = trace;
    tables->first_image = trace->tables.images.length;
    for (size_t i = 0; i < trace->tables.threads.length; i++) {
        const struct argus_thread_entry *entry = &trace->tables.threads.data[i];
        uint64_t pid = entry->kernel ? 0 : entry->pid;
        if (!idmap_put(&tables->pid_by_tid, entry->tid, (uint32_t)pid)) {
            kdebug_tables_destroy(tables);
            return NULL;
        }
    }
    return tables;
}

void kdebug_tables_destroy(struct kdebug_tables *tables)
{
    if (!tables)
        return;
    kdebug_stacks_deinit(&tables->stacks);
    kdebug_strings_deinit(&tables->strings);
    vec_deinit(&tables->pending);
    vec_deinit(&tables->paths);
    idmap_deinit(&tables->pending_by_tid);
    idmap_deinit(&tables->pid_by_tid);
    idmap_deinit(&tables->text_by_string);
    free(tables);
}

static struct pending *pending_of(struct kdebug_tables *tables, uint64_t tid)
{
    uint32_t index = idmap_get(&tables->pending_by_tid, tid);
    if (index != IDMAP_NONE)
        return &tables->pending.data[index];
    index = (uint32_t)tables->pending.length;
    if (!vec_push(&tables->pending, (struct pending){0}) ||
        !idmap_put(&tables->pending_by_tid, tid, index))
        return NULL;
    return &tables->pending.data[index];
}

static bool intern(struct kdebug_tables *tables, char *text, size_t length, uint32_t *ret)
{
    utf8_repair_name(text, length);
    struct argus_error *error = strtab_intern(tables->trace->strings, text, length, ret);
    argus_error_destroy(error);
    return !error;
}

/* --- strings; the first record of a string has its tracepoint and the number by which images refer
 * to it --- */

static bool feed_string(struct kdebug_tables *tables, const struct argus_record *record)
{
    const struct kdebug_string *string = kdebug_strings_feed(&tables->strings, record);
    uint32_t id;
    if (!string || !string->number[1] ||
        !string->length) /* an empty string revokes the number, but paths that were set stay */
        return !tables->strings.no_memory;
    struct argus_error *error =
        strtab_intern(tables->trace->strings, string->text, string->length, &id);
    argus_error_destroy(error);
    return !error && idmap_put(&tables->text_by_string, string->number[1], id);
}

/* --- images --- */

static bool begin_image(struct kdebug_tables *tables, const struct argus_record *record)
{
    struct pending *pending = pending_of(tables, record->tid);
    uint32_t id, pid = idmap_get(&tables->pid_by_tid, record->tid);
    char path[] = ARGUS_SHARED_CACHE_PATH;
    bool is_cache = ARGUS_DEBUGID_EVENT(record->debugid) == ID_SHARED_CACHE_A;
    if (!pending || !intern(tables, path, is_cache ? strlen(path) : 0, &id))
        return false;
    pending->has_image = pid != IDMAP_NONE;
    pending->image = (struct argus_image_entry){
        .pid = pid,
        .start = record->arg[2],
        .mapped_ticks = record->timestamp,
        .path = strtab_get(tables->trace->strings, id),
        .build_id_bytes = UUID_BYTES,
    };
    memcpy(pending->image.build_id, record->arg, UUID_BYTES);
    return true;
}

/* From a 32-bit kernel: the UUID fills the first record, and the address begins the second. */
static bool begin_narrow_image(struct kdebug_tables *tables, const struct argus_record *record)
{
    if (!begin_image(tables, record))
        return false;
    struct pending *pending = pending_of(tables, record->tid);
    if (!pending)
        return false;
    struct argus_image_entry *image = &pending->image;
    for (int i = 0; i < 4; i++) {
        uint32_t word = (uint32_t)record->arg[i];
        memcpy(image->build_id + 4 * i, &word, sizeof(word));
    }
    image->start = 0;
    return true;
}

static bool end_image(struct kdebug_tables *tables, const struct argus_record *record, bool narrow)
{
    struct pending *pending = pending_of(tables, record->tid);
    if (!pending)
        return false;
    if (!pending->has_image)
        return true;
    pending->has_image = false;
    if (narrow)
        pending->image.start = record->arg[0];
    struct image_path path = {.string = narrow ? 0 : record->arg[1]};
    return vec_push(&tables->paths, path) &&
           vec_push(&tables->trace->tables.images, pending->image);
}

static bool keep_stack(struct kdebug_tables *tables, const struct argus_record *record)
{
    const struct kdebug_stack *stack = kdebug_stacks_feed(&tables->stacks, record);
    if (tables->stacks.no_memory)
        return false;
    if (!stack)
        return true;
    struct argus_error *error =
        argus_trace_add_stack(tables->trace, stack->id, stack->frames, stack->count);
    argus_error_destroy(error);
    return !error;
}

bool kdebug_tables_feed(struct kdebug_tables *tables, const struct argus_record *record)
{
    switch (ARGUS_DEBUGID_EVENT(record->debugid)) {
    case ARGUS_ID_NEW_THREAD:
        return idmap_put(&tables->pid_by_tid, record->arg[0], (uint32_t)record->arg[1]);
    case KDEBUG_ID_STRING_GLOBAL:
        return feed_string(tables, record);
    case ID_IMAGE_A:
    case ID_SHARED_CACHE_A:
        return begin_image(tables, record);
    case ID_IMAGE_32_A:
        return begin_narrow_image(tables, record);
    case ID_IMAGE_B:
    case ID_SHARED_CACHE_A + 4:
        return end_image(tables, record, false);
    case ID_IMAGE_32_B:
        return end_image(tables, record, true);
    default:
        return ARGUS_DEBUGID_CLASS(record->debugid) != 0x25 || keep_stack(tables, record);
    }
}

/* --- the end of each image --- */

static int by_place(const void *left, const void *right)
{
    const struct argus_image_entry *a = *(struct argus_image_entry *const *)left;
    const struct argus_image_entry *b = *(struct argus_image_entry *const *)right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool is_shared_cache(const struct argus_image_entry *image)
{
    return strncmp(image->path, ARGUS_SHARED_CACHE_PATH, strlen(ARGUS_SHARED_CACHE_PATH)) == 0;
}

/* If the path is unknown, the UUID identifies the file for `dwarfdump --uuid`, atos and symbol
 * servers. */
static bool name_by_uuid(struct kdebug_tables *tables, struct argus_image_entry *image)
{
    char text[96];
    const uint8_t *u = image->build_id;
    uint32_t id;
    int length =
        snprintf(text, sizeof(text),
                 "%s%sUUID %02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X",
                 image->path, *image->path ? " " : "", u[0], u[1], u[2], u[3], u[4], u[5], u[6],
                 u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    if (!intern(tables, text, (size_t)length, &id))
        return false;
    image->path = strtab_get(tables->trace->strings, id);
    return true;
}

static uint64_t end_of(const struct argus_image_entry *image, const struct argus_image_entry *next)
{
    uint64_t length = is_shared_cache(image) ? ARGUS_SHARED_CACHE_BYTES : LONGEST_IMAGE_BYTES;
    uint64_t end = image->start > UINT64_MAX - length ? UINT64_MAX : image->start + length;
    return next && next->pid == image->pid && next->start < end ? next->start : end;
}

static bool set_ends(struct argus_image_entry *images, size_t count)
{
    struct argus_image_entry **order = malloc((count + 1) * sizeof(*order));
    if (!order)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = &images[i];
    if (count)
        qsort(order, count, sizeof(*order), by_place);
    const struct argus_image_entry *next = NULL; /* the next image that begins at another address */
    for (size_t i = count; i-- > 0;) {
        if (i + 1 < count && order[i + 1]->start != order[i]->start)
            next = order[i + 1];
        order[i]->end = end_of(order[i], next);
    }
    free(order);
    return true;
}

bool kdebug_tables_finish(struct kdebug_tables *tables)
{
    if (!tables->paths.length)
        return true;
    struct argus_image_entry *images = tables->trace->tables.images.data + tables->first_image;
    for (size_t i = 0; i < tables->paths.length; i++) {
        uint32_t text = idmap_get(&tables->text_by_string, tables->paths.data[i].string);
        if (tables->paths.data[i].string && text != IDMAP_NONE)
            images[i].path = strtab_get(tables->trace->strings, text);
        else if (!name_by_uuid(tables, &images[i]))
            return false;
    }
    return set_ends(images, tables->paths.length);
}
