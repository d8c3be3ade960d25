#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/code_names.h"
#include "trace/cursor.h"
#include "trace/layout.h"
#include "trace/reader.h"
#include "trace/reason.h"
#include "trace/snapshot_decrypt.h"

bool take_string(struct cursor *cursor, const char **ret)
{
    uint64_t length;
    if (!take_varint(cursor, &length) || length > cursor->end - cursor->at)
        return false;
    char *text = (char *)cursor->payload + cursor->at;
    cursor->at += length;
    utf8_repair_name(text, length);
    uint32_t id;
    struct argus_error *error = strtab_intern(cursor->strings, text, length, &id);
    if (error) {
        argus_error_destroy(error);
        cursor->no_memory = true;
        return false;
    }
    *ret = strtab_get(cursor->strings, id);
    return true;
}

static bool keep(struct cursor *cursor, bool pushed)
{
    cursor->no_memory |= !pushed;
    return pushed;
}

/* --- one entry of each kind --- */

static bool take_thread(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_thread_entry entry = {.seen_ticks = cursor->ticks};
    uint64_t flags;
    if (!take_varint(cursor, &entry.tid) || !take_varint(cursor, &entry.pid) ||
        !take_varint(cursor, &entry.parent_pid) || !take_varint(cursor, &flags) ||
        !take_string(cursor, &entry.name))
        return false;
    entry.kernel = flags & 1;
    return keep(cursor, vec_push(&tables->threads, entry));
}

/* Images and build IDs both have inode, device and build ID together. */
static bool take_file(struct cursor *cursor, struct argus_image_entry *ret)
{
    if (!take_varint(cursor, &ret->inode) || !take_u32(cursor, &ret->dev_major) ||
        !take_u32(cursor, &ret->dev_minor) || !take_u32(cursor, &ret->build_id_bytes) ||
        ret->build_id_bytes > LAYOUT_BUILD_ID_BYTES ||
        ret->build_id_bytes > cursor->end - cursor->at)
        return false;
    memcpy(ret->build_id, cursor->payload + cursor->at, ret->build_id_bytes);
    cursor->at += ret->build_id_bytes;
    return take_string(cursor, &ret->path);
}

static bool take_image(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_image_entry entry = {0};
    uint64_t length;
    if (!take_varint(cursor, &entry.pid) || !take_varint(cursor, &entry.start) ||
        !take_varint(cursor, &length) || !take_varint(cursor, &entry.file_offset) ||
        !take_varint(cursor, &entry.mapped_ticks) || !take_file(cursor, &entry) ||
        __builtin_add_overflow(entry.start, length, &entry.end))
        return false;
    return keep(cursor, vec_push(&tables->images, entry));
}

static bool take_build_id(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_image_entry entry = {.pid = tables->build_ids.length};
    return take_file(cursor, &entry) && keep(cursor, vec_push(&tables->build_ids, entry));
}

static bool take_stack(struct cursor *cursor, struct trace_tables *tables)
{
    struct trace_stack stack = {.first = tables->frames.length};
    if (!take_id(cursor, &stack.id) || !take_u32(cursor, &stack.count) || stack.count == 0 ||
        stack.count > ARGUS_STACK_MAX_FRAMES)
        return false;
    uint64_t frame = 0, difference;
    for (uint32_t i = 0; i < stack.count; i++) {
        if (!take_varint(cursor, &difference))
            return false;
        frame += unzigzag(difference);
        if (!keep(cursor, vec_push(&tables->frames, frame)))
            return false;
    }
    return keep(cursor, vec_push(&tables->stacks, stack));
}

static bool take_symbol(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_kernel_symbol entry = {0};
    uint64_t difference;
    if (!take_varint(cursor, &difference) || !take_string(cursor, &entry.name) ||
        !take_string(cursor, &entry.module))
        return false;
    entry.address = cursor->address += difference;
    return keep(cursor, vec_push(&tables->symbols, entry));
}

static bool take_probe(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_probe_entry entry = {0};
    return take_u32(cursor, &entry.number) && take_u32(cursor, &entry.shape) &&
           take_u32(cursor, &entry.space) && take_varint(cursor, &entry.file_offset) &&
           take_string(cursor, &entry.library) && take_string(cursor, &entry.symbol) &&
           take_string(cursor, &entry.label) && keep(cursor, vec_push(&tables->probes, entry));
}

static bool take_flag(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_flag_entry entry = {0};
    bool taken = take_u32(cursor, &entry.number) && take_varint(cursor, &entry.pid) &&
                 take_varint(cursor, &entry.address) && take_u32(cursor, &entry.bytes) &&
                 take_u32(cursor, &entry.semantics) && take_varint(cursor, &entry.since_ticks) &&
                 take_varint(cursor, &entry.value) && take_string(cursor, &entry.label);
    return taken && entry.bytes <= 8 && entry.semantics < ARGUS_FLAG_SEMANTICS &&
           keep(cursor, vec_push(&tables->flags, entry));
}

static bool take_late_stack(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_late_stack entry = {0};
    uint64_t length;
    return take_varint(cursor, &entry.tid) && take_varint(cursor, &entry.from_ticks) &&
           take_varint(cursor, &length) &&
           !__builtin_add_overflow(entry.from_ticks, length, &entry.to_ticks) &&
           take_varint(cursor, &entry.sp) && take_id(cursor, &entry.id) &&
           keep(cursor, vec_push(&tables->late_stacks, entry));
}

/* Bytes that are not text; they are appended to those of the previous entry. */
static bool take_bytes(struct cursor *cursor, struct trace_tables *tables, uint32_t *ret_bytes)
{
    if (!take_u32(cursor, ret_bytes) || *ret_bytes > cursor->end - cursor->at)
        return false;
    if (!keep(cursor, vec_reserve(&tables->code_bytes, *ret_bytes)))
        return false;
    if (*ret_bytes) /* otherwise the array may not exist yet */
        memcpy(tables->code_bytes.data + tables->code_bytes.length, cursor->payload + cursor->at,
               *ret_bytes);
    tables->code_bytes.length += *ret_bytes;
    cursor->at += *ret_bytes;
    return true;
}

static bool take_code(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_code_entry entry = {0};
    uint64_t end;
    return take_varint(cursor, &entry.pid) && take_varint(cursor, &entry.start) &&
           take_varint(cursor, &entry.bytes) &&
           !__builtin_add_overflow(entry.start, entry.bytes, &end) &&
           take_varint(cursor, &entry.seen_ticks) && take_u32(cursor, &entry.line) &&
           take_string(cursor, &entry.function) && take_string(cursor, &entry.source) &&
           take_bytes(cursor, tables, &entry.table_bytes) &&
           keep(cursor, vec_push(&tables->code, entry));
}

static bool take_note(struct cursor *cursor, struct trace_tables *tables)
{
    const char *note;
    return take_string(cursor, &note) && keep(cursor, vec_push(&tables->notes, note));
}

static bool take_counter(struct cursor *cursor, struct trace_tables *tables)
{
    struct argus_counter entry = {0};
    return take_string(cursor, &entry.name) && take_varint(cursor, &entry.value) &&
           keep(cursor, vec_push(&tables->counters, entry));
}

/* To add a kind of table: its number in argus/trace.h and in the format's text, a take_… function
 * here, one row. */
static const struct table_kind {
    enum argus_chunk_kind kind;
    bool (*take)(struct cursor *cursor, struct trace_tables *tables);
} kinds[] = {
    {ARGUS_CHUNK_THREADS, take_thread},     {ARGUS_CHUNK_IMAGES, take_image},
    {ARGUS_CHUNK_STACKS, take_stack},       {ARGUS_CHUNK_KERNEL_SYMBOLS, take_symbol},
    {ARGUS_CHUNK_BUILD_IDS, take_build_id}, {ARGUS_CHUNK_PROBES, take_probe},
    {ARGUS_CHUNK_NOTE, take_note},          {ARGUS_CHUNK_END, take_counter},
    {ARGUS_CHUNK_FLAGS, take_flag},         {ARGUS_CHUNK_LATE_STACKS, take_late_stack},
    {ARGUS_CHUNK_NAMES, take_name},         {ARGUS_CHUNK_CODE, take_code},
    {ARGUS_CHUNK_INLINED, take_inlined},
};

/* --- one chunk --- */

enum { CHECK_EVERY = 4096 }; /* entries between two checks of the memory */

static struct argus_error *take_entries(const struct table_kind *kind,
                                        const struct argus_chunk *chunk, struct cursor *cursor,
                                        struct argus_trace *trace)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        struct argus_error *error =
            i % CHECK_EVERY ? NULL : argus_trace_check_memory(trace, chunk->offset_bytes);
        if (error)
            return error;
        if (!kind->take(cursor, &trace->tables))
            return reason_to_error(cursor->no_memory ? REASON_MEMORY
                                                     : "an entry of its table is wrong or cut off");
    }
    return cursor->at == cursor->end ? NULL
                                     : reason_to_error("bytes are left over after its table");
}

/* Drops a stack whose ID is known (a ring contains stacks repeatedly) and moves the frames of the
 * others down. */
bool tables_index_stacks(struct trace_tables *tables, size_t from)
{
    struct trace_stack *stacks = tables->stacks.data;
    uint64_t *frames = tables->frames.data;
    size_t kept = from, count = tables->stacks.length;
    size_t frame = from < count ? stacks[from].first : tables->frames.length;
    bool indexed = true;
    for (size_t i = from; i < count && indexed; i++) {
        struct trace_stack stack = stacks[i];
        if (idmap_get(&tables->stack_index, stack.id) != IDMAP_NONE)
            continue;
        indexed = idmap_put(&tables->stack_index, stack.id, (uint32_t)kept);
        memmove(frames + frame, frames + stack.first, stack.count * sizeof(*frames));
        stack.first = frame;
        frame += stack.count;
        stacks[kept++] = stack;
    }
    tables->stacks.length = kept;
    tables->frames.length = frame;
    return indexed;
}

/* A damaged table is dropped completely: the entries that it added before the damage are removed.
 * `before` has the old lengths; the arrays may have moved since. */
static void take_back(struct trace_tables *tables, const struct trace_tables *before)
{
    tables->threads.length = before->threads.length;
    tables->images.length = before->images.length;
    tables->build_ids.length = before->build_ids.length;
    tables->stacks.length = before->stacks.length;
    tables->frames.length = before->frames.length;
    tables->symbols.length = before->symbols.length;
    tables->probes.length = before->probes.length;
    tables->flags.length = before->flags.length;
    tables->notes.length = before->notes.length;
    tables->counters.length = before->counters.length;
    tables->late_stacks.length = before->late_stacks.length;
    tables->names.length = before->names.length;
    tables->code.length = before->code.length;
    tables->code_bytes.length = before->code_bytes.length;
    tables->name_owners.length = before->name_owners.length;
}

static const struct table_kind *find_kind(enum argus_chunk_kind kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].kind == kind)
            return &kinds[i];
    return NULL;
}

struct argus_error *tables_load(struct argus_trace *trace, const struct argus_chunk *chunk)
{
    const struct table_kind *kind = find_kind(chunk->kind);
    if (chunk->kind == ARGUS_CHUNK_ENCRYPTED)
        snapshots_find_key(trace, chunk);
    if (is_of_snapshots(chunk->kind))
        return snapshots_check(trace, chunk);
    if (!kind) /* a kind from a later minor version */
        return NULL;
    struct cursor cursor = {
        .end = chunk->unpacked_bytes,
        .strings = trace->strings,
        .ticks = chunk->last_ticks,
    };
    struct argus_error *error = chunk_load(trace, chunk, &cursor.payload);
    if (error)
        return error;
    const struct trace_tables before = trace->tables;
    error = take_entries(kind, chunk, &cursor, trace);
    free(cursor.payload);
    if (error)
        take_back(&trace->tables, &before);
    else if (!tables_index_stacks(&trace->tables, before.stacks.length))
        error = argus_error_memory();
    return error;
}

void tables_deinit(struct trace_tables *tables)
{
    vec_deinit(&tables->threads);
    vec_deinit(&tables->images);
    vec_deinit(&tables->build_ids);
    vec_deinit(&tables->stacks);
    vec_deinit(&tables->frames);
    vec_deinit(&tables->symbols);
    vec_deinit(&tables->code);
    vec_deinit(&tables->code_bytes);
    vec_deinit(&tables->probes);
    vec_deinit(&tables->flags);
    vec_deinit(&tables->notes);
    vec_deinit(&tables->counters);
    vec_deinit(&tables->late_stacks);
    vec_deinit(&tables->late_places);
    vec_deinit(&tables->names);
    vec_deinit(&tables->name_owners);
    idmap_deinit(&tables->stack_index);
}
