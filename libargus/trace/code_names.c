/* Names of places in code. An entry can refer to the previous entry of its chunk for the owner,
 * function or source file, because neighbours mostly share them. When all chunks are read, owners
 * and names are sorted, so that a place is found by two binary searches. */
#include "trace/code_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "trace/image_file.h"
#include "trace/layout.h"

/* --- taking --- */

static bool keep(struct cursor *cursor, bool pushed)
{
    cursor->no_memory |= !pushed;
    return pushed;
}

static bool take_file(struct cursor *cursor, struct argus_image_entry *ret)
{
    ret->path = "";
    if (!take_u32(cursor, &ret->build_id_bytes) || ret->build_id_bytes > LAYOUT_BUILD_ID_BYTES ||
        ret->build_id_bytes > cursor->end - cursor->at)
        return false;
    memcpy(ret->build_id, cursor->payload + cursor->at, ret->build_id_bytes);
    cursor->at += ret->build_id_bytes;
    return ret->build_id_bytes ||
           (take_varint(cursor, &ret->inode) && take_u32(cursor, &ret->dev_major) &&
            take_u32(cursor, &ret->dev_minor) && take_string(cursor, &ret->path));
}

static bool take_owner(struct cursor *cursor, struct trace_tables *tables, uint64_t flags,
                       struct trace_name *ret)
{
    struct trace_name_owner owner = {0};
    bool of_process = flags & LAYOUT_NAME_OF_PROCESS;
    if (of_process ? !take_varint(cursor, &owner.file.pid) : !take_file(cursor, &owner.file))
        return false;
    ret->owner = (uint32_t)tables->name_owners.length;
    return keep(cursor, vec_push(&tables->name_owners, owner));
}

static bool take_text(struct cursor *cursor, uint64_t is_same, const char *before, const char **ret)
{
    if (!is_same)
        return take_string(cursor, ret);
    *ret = before;
    return before != NULL;
}

static bool take_numbers(struct cursor *cursor, uint64_t flags, struct argus_name_entry *ret)
{
    uint32_t lack;
    uint64_t distance;
    if (!take_u32(cursor, &ret->line) || !take_varint(cursor, &distance) ||
        !take_u32(cursor, &lack) || lack >= ARGUS_LACKS)
        return false;
    ret->has_start = distance > 0;
    ret->distance = distance - ret->has_start;
    ret->lack = (uint8_t)lack;
    return !(flags & LAYOUT_NAME_HAS_SINCE) || take_varint(cursor, &ret->since_ticks);
}

bool take_name(struct cursor *cursor, struct trace_tables *tables)
{
    const struct trace_name *before =
        cursor->at && tables->names.length ? &tables->names.data[tables->names.length - 1] : NULL;
    struct trace_name name = {.entry.called = "", .order = (uint32_t)tables->names.length};
    uint64_t flags, difference, same = LAYOUT_NAME_SAME_OWNER;
    if (!take_varint(cursor, &flags) || flags >= LAYOUT_NAME_FLAGS || (flags & same && !before))
        return false;
    if (flags & same)
        name.owner = before->owner;
    else if (!take_owner(cursor, tables, flags, &name))
        return false;
    if (!take_varint(cursor, &difference))
        return false;
    name.entry.place = (flags & same ? before->entry.place : 0) + unzigzag(difference);
    return take_text(cursor, flags & LAYOUT_NAME_SAME_FUNCTION,
                     before ? before->entry.function : NULL, &name.entry.function) &&
           take_text(cursor, flags & LAYOUT_NAME_SAME_SOURCE, before ? before->entry.source : NULL,
                     &name.entry.source) &&
           take_numbers(cursor, flags, &name.entry) &&
           take_text(cursor, !(flags & LAYOUT_NAME_HAS_CALLED), "", &name.entry.called) &&
           keep(cursor, vec_push(&tables->names, name));
}

bool take_inlined(struct cursor *cursor, struct trace_tables *tables)
{
    uint32_t level;
    if (!take_name(cursor, tables) || !take_u32(cursor, &level) || level == 0)
        return false;
    tables->names.data[tables->names.length - 1].entry.level = level;
    return true;
}

/* --- sorting --- */

/* Files sort before processes; files without a build ID sort first. */
static int compare_owners(const struct argus_image_entry *a, const struct argus_image_entry *b)
{
    if (!a->path != !b->path)
        return a->path ? -1 : 1;
    if (!a->path)
        return a->pid < b->pid ? -1 : a->pid > b->pid;
    if (a->build_id_bytes != b->build_id_bytes)
        return a->build_id_bytes < b->build_id_bytes ? -1 : 1;
    return a->build_id_bytes ? memcmp(a->build_id, b->build_id, a->build_id_bytes)
                             : image_file_compare(a, b);
}

struct numbered {
    struct trace_name_owner owner;
    uint32_t number; /* the owner's number in the names */
};

static int compare_numbered(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return compare_owners(&a->owner.file, &b->owner.file);
}

/* Sorts the owners and updates the owner numbers in the names. */
static bool settle_owners(struct trace_tables *tables)
{
    size_t count = tables->name_owners.length, kept = 0;
    struct numbered *numbered = malloc((count + 1) * sizeof(*numbered));
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));
    bool done = numbered && numbers;
    for (size_t i = 0; done && i < count; i++)
        numbered[i] = (struct numbered){tables->name_owners.data[i], (uint32_t)i};
    if (done && count)
        qsort(numbered, count, sizeof(*numbered), compare_numbered);
    for (size_t i = 0; done && i < count; i++) {
        if (i == 0 || compare_numbered(&numbered[i - 1], &numbered[i]) != 0)
            tables->name_owners.data[kept++] = numbered[i].owner;
        numbers[numbered[i].number] = (uint32_t)kept - 1;
    }
    for (size_t i = 0; done && i < tables->names.length; i++)
        tables->names.data[i].owner = numbers[tables->names.data[i].owner];
    if (done)
        tables->name_owners.length = kept;
    free(numbered);
    free(numbers);
    return done;
}

/* By owner, place, level and time. */
static int compare_places(const struct trace_name *a, const struct trace_name *b)
{
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->entry.place != b->entry.place)
        return a->entry.place < b->entry.place ? -1 : 1;
    if (a->entry.level != b->entry.level)
        return a->entry.level < b->entry.level ? -1 : 1;
    if (a->entry.since_ticks != b->entry.since_ticks)
        return a->entry.since_ticks < b->entry.since_ticks ? -1 : 1;
    return 0;
}

/* If several entries are equal, the one written last sorts first. */
static int compare_names(const void *left, const void *right)
{
    const struct trace_name *a = left, *b = right;
    int places = compare_places(a, b);
    return places ? places : a->order > b->order ? -1 : a->order < b->order;
}

bool names_finish(struct trace_tables *tables)
{
    struct trace_name *names = tables->names.data;
    size_t count = tables->names.length, kept = 0;
    if (!count)
        return true;
    if (!settle_owners(tables))
        return false;
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_places(&names[kept - 1], &names[i]) != 0)
            names[kept++] = names[i];
    tables->names.length = kept;
    return true;
}

/* --- reading --- */

size_t argus_trace_name_count(const struct argus_trace *trace)
{
    return trace->tables.names.length;
}

struct argus_name_entry argus_trace_name_at(const struct argus_trace *trace, size_t index)
{
    const struct trace_name *name = &trace->tables.names.data[index];
    struct argus_name_entry entry = name->entry;
    const struct argus_image_entry *owner = &trace->tables.name_owners.data[name->owner].file;
    entry.file = owner->path ? owner : NULL;
    entry.pid = owner->pid;
    return entry;
}

static bool find_owner(const struct trace_tables *tables, const struct argus_image_entry *wanted,
                       uint32_t *ret)
{
    const struct trace_name_owner *owners = tables->name_owners.data;
    size_t first, count = tables->name_owners.length;
    LOWER_BOUND(first, count, compare_owners(&owners[first].file, wanted) < 0);
    *ret = (uint32_t)first;
    return first < count && compare_owners(&owners[first].file, wanted) == 0;
}

static bool is_same_place(const struct trace_name *a, const struct trace_name *b)
{
    return a->owner == b->owner && a->entry.place == b->entry.place &&
           a->entry.level == b->entry.level;
}

/* Of the entries for one place and level: the latest that is not later than `wanted`, else the
 * earliest. */
static bool find(const struct argus_trace *trace, const struct trace_name *wanted,
                 struct argus_name_entry *ret)
{
    const struct trace_name *names = trace->tables.names.data;
    size_t first;
    LOWER_BOUND(first, trace->tables.names.length, compare_places(&names[first], wanted) <= 0);
    bool before = first && is_same_place(&names[first - 1], wanted);
    bool behind = first < trace->tables.names.length && is_same_place(&names[first], wanted);
    if (!before && !behind)
        return false;
    *ret = argus_trace_name_at(trace, before ? first - 1 : first);
    return true;
}

bool argus_trace_name_in_file(const struct argus_trace *trace,
                              const struct argus_image_entry *image, uint64_t file_offset,
                              struct argus_name_entry *ret)
{
    return argus_trace_inlined_in_file(trace, image, file_offset, 0, ret);
}

bool argus_trace_inlined_in_file(const struct argus_trace *trace,
                                 const struct argus_image_entry *image, uint64_t file_offset,
                                 uint32_t level, struct argus_name_entry *ret)
{
    struct trace_name wanted = {
        .entry = {.place = file_offset, .level = level, .since_ticks = UINT64_MAX}};
    return find_owner(&trace->tables, image, &wanted.owner) && find(trace, &wanted, ret);
}

/* Ticks are compared as times, because an entry is valid from its own time on. */
static uint64_t ticks_at(const struct argus_trace *trace, uint64_t time_ns)
{
    const struct argus_trace_header *header = &trace->header;
    __extension__ unsigned __int128 ticks =
        (unsigned __int128)time_ns * header->timebase_denom / header->timebase_numer;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

bool argus_trace_name_in_process(const struct argus_trace *trace, uint64_t pid, uint64_t address,
                                 uint64_t time_ns, struct argus_name_entry *ret)
{
    struct argus_image_entry process = {.pid = pid};
    struct trace_name wanted = {.entry.place = address,
                                .entry.since_ticks = ticks_at(trace, time_ns)};
    return find_owner(&trace->tables, &process, &wanted.owner) && find(trace, &wanted, ret);
}
