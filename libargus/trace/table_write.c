/* Writes table chunks. Each kind of table has a function that puts one entry. A chunk is written
 * whenever the payload is large enough. */
#include <string.h>

#include "trace/layout.h"
#include "trace/varint.h"
#include "trace/writer.h"

/* How the entries of one kind of table are put. */
struct table {
    enum argus_chunk_kind kind;
    const void *entries;
    size_t entry_bytes;
    void (*put)(struct bytes *payload, const void *entry, const void *previous);
};

static struct argus_error *put_table_chunk(struct argus_writer *writer, enum argus_chunk_kind kind,
                                           uint32_t count, uint64_t ticks,
                                           const struct bytes *payload)
{
    struct chunk_head head = {
        .kind = kind,
        .count = count,
        .cpu = ARGUS_CPU_MIXED,
        .first_ticks = ticks,
        .last_ticks = ticks,
    };
    return writer_put_chunk(writer, &head, payload);
}

/* `previous` of put() is NULL for the first entry of each chunk. Without entries, no chunk is
 * written. */
static struct argus_error *put_table(struct argus_writer *writer, const struct table *table,
                                     size_t count, uint64_t ticks)
{
    const char *entries = table->entries;
    struct bytes *payload = &writer->payload;
    uint32_t in_chunk = 0;
    bytes_clear(payload);
    for (size_t i = 0; i < count; i++) {
        const char *entry = entries + i * table->entry_bytes;
        table->put(payload, entry, in_chunk ? entry - table->entry_bytes : NULL);
        in_chunk++;
        if (payload->length < writer_table_bytes(writer) && !payload->failed && i + 1 < count)
            continue;
        struct argus_error *error = put_table_chunk(writer, table->kind, in_chunk, ticks, payload);
        if (error)
            return error;
        in_chunk = 0;
        bytes_clear(payload);
    }
    return NULL;
}

/* --- threads --- */

static void put_thread(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    const struct argus_thread_entry *thread = entry;
    bytes_put_varint(payload, thread->tid);
    bytes_put_varint(payload, thread->pid);
    bytes_put_varint(payload, thread->parent_pid);
    bytes_put_varint(payload, thread->kernel ? 1 : 0);
    bytes_put_string(payload, thread->name);
}

struct argus_error *argus_writer_threads(struct argus_writer *writer,
                                         const struct argus_thread_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_THREADS, entries, sizeof(*entries), put_thread};
    uint64_t ticks = 0;
    for (size_t i = 0; i < count; i++)
        ticks = entries[i].seen_ticks > ticks ? entries[i].seen_ticks : ticks;
    return put_table(writer, &table, count, ticks);
}

/* --- images and build ids --- */

static void put_file(struct bytes *payload, const struct argus_image_entry *image)
{
    uint32_t length = image->build_id_bytes <= LAYOUT_BUILD_ID_BYTES ? image->build_id_bytes : 0;
    bytes_put_varint(payload, image->inode);
    bytes_put_varint(payload, image->dev_major);
    bytes_put_varint(payload, image->dev_minor);
    bytes_put_varint(payload, length);
    bytes_put(payload, image->build_id, length);
    bytes_put_string(payload, image->path);
}

static void put_image_entry(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    const struct argus_image_entry *image = entry;
    bytes_put_varint(payload, image->pid);
    bytes_put_varint(payload, image->start);
    bytes_put_varint(payload, image->end - image->start);
    bytes_put_varint(payload, image->file_offset);
    bytes_put_varint(payload, image->mapped_ticks);
    put_file(payload, image);
}

struct argus_error *argus_writer_images(struct argus_writer *writer,
                                        const struct argus_image_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_IMAGES, entries, sizeof(*entries), put_image_entry};
    return put_table(writer, &table, count, writer->latest_ticks);
}

static void put_build_id(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    put_file(payload, entry);
}

struct argus_error *argus_writer_build_ids(struct argus_writer *writer,
                                           const struct argus_image_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_BUILD_IDS, entries, sizeof(*entries), put_build_id};
    return put_table(writer, &table, count, writer->latest_ticks);
}

/* --- stacks --- */

static struct argus_error *flush_stacks(struct argus_writer *writer)
{
    if (!writer->stack_count)
        return NULL;
    struct argus_error *error = put_table_chunk(writer, ARGUS_CHUNK_STACKS, writer->stack_count,
                                                writer->latest_ticks, &writer->stacks);
    if (!error) {
        bytes_clear(&writer->stacks);
        writer->stack_count = 0;
    }
    return error;
}

static struct argus_error *flush_late_stacks(struct argus_writer *writer)
{
    if (!writer->late_count)
        return NULL;
    struct argus_error *error = put_table_chunk(writer, ARGUS_CHUNK_LATE_STACKS, writer->late_count,
                                                writer->latest_ticks, &writer->late_stacks);
    if (!error) {
        bytes_clear(&writer->late_stacks);
        writer->late_count = 0;
    }
    return error;
}

struct argus_error *argus_writer_late_stack(struct argus_writer *writer,
                                            const struct argus_late_stack *late)
{
    struct bytes *payload = &writer->late_stacks;
    if (late->id == 0)
        return NULL;
    struct argus_error *error =
        payload->length >= writer_table_bytes(writer) ? flush_late_stacks(writer) : NULL;
    if (error)
        return error;
    size_t before = payload->length;
    bytes_put_varint(payload, late->tid);
    bytes_put_varint(payload, late->from_ticks);
    bytes_put_varint(payload, late->to_ticks - late->from_ticks);
    bytes_put_varint(payload, late->sp);
    bytes_put(payload, &late->id, sizeof(late->id));
    if (payload->failed) {
        payload->length = before;
        payload->failed = false;
        return argus_error_memory();
    }
    writer->late_count++;
    return NULL;
}

struct argus_error *argus_writer_flush(struct argus_writer *writer)
{
    struct argus_error *error = writer_place_all(writer);
    if (!error)
        error = flush_stacks(writer);
    if (!error)
        error = writer_flush_snapshots(writer);
    return error ? error : flush_late_stacks(writer);
}

void writer_put_stack(struct bytes *payload, uint64_t id, const uint64_t *frames, size_t count)
{
    uint64_t previous = 0;
    bytes_put(payload, &id, sizeof(id));
    bytes_put_varint(payload, count);
    for (size_t i = 0; i < count; i++) {
        bytes_put_varint(payload, zigzag(frames[i] - previous));
        previous = frames[i];
    }
}

struct argus_error *argus_writer_stack(struct argus_writer *writer, uint64_t id,
                                       const uint64_t *frames, size_t count)
{
    if (id == 0 || count == 0 || idmap_get(&writer->stacks_written, id) != IDMAP_NONE)
        return NULL;
    if (writer->stacks.length >= writer_table_bytes(writer)) {
        struct argus_error *error = flush_stacks(writer);
        if (error)
            return error;
    }
    size_t before = writer->stacks.length;
    writer_put_stack(&writer->stacks, id, frames,
                     count < ARGUS_STACK_MAX_FRAMES ? count : ARGUS_STACK_MAX_FRAMES);
    if (writer->stacks.failed || !idmap_put(&writer->stacks_written, id, 0)) {
        writer->stacks.length = before;
        writer->stacks.failed = false;
        return argus_error_memory();
    }
    writer->stack_count++;
    return NULL;
}

void argus_writer_forget_stacks(struct argus_writer *writer)
{
    idmap_clear(&writer->stacks_written);
}

/* --- kernel symbols, probes, flags --- */

static void put_symbol(struct bytes *payload, const void *entry, const void *previous)
{
    const struct argus_kernel_symbol *symbol = entry, *before = previous;
    bytes_put_varint(payload, symbol->address - (before ? before->address : 0));
    bytes_put_string(payload, symbol->name);
    bytes_put_string(payload, symbol->module);
}

struct argus_error *argus_writer_kernel_symbols(struct argus_writer *writer,
                                                const struct argus_kernel_symbol *entries,
                                                size_t count)
{
    struct table table = {ARGUS_CHUNK_KERNEL_SYMBOLS, entries, sizeof(*entries), put_symbol};
    for (size_t i = 1; i < count; i++)
        if (entries[i].address < entries[i - 1].address)
            return argus_error_create(ARGUS_ERROR_USAGE,
                                      "kernel symbols must ascend: %s is below %s", entries[i].name,
                                      entries[i - 1].name);
    return put_table(writer, &table, count, writer->latest_ticks);
}

static void put_probe(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    const struct argus_probe_entry *probe = entry;
    bytes_put_varint(payload, probe->number);
    bytes_put_varint(payload, probe->shape);
    bytes_put_varint(payload, probe->space);
    bytes_put_varint(payload, probe->file_offset);
    bytes_put_string(payload, probe->library);
    bytes_put_string(payload, probe->symbol);
    bytes_put_string(payload, probe->label);
}

struct argus_error *argus_writer_probes(struct argus_writer *writer,
                                        const struct argus_probe_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_PROBES, entries, sizeof(*entries), put_probe};
    return put_table(writer, &table, count, writer->latest_ticks);
}

static void put_flag(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    const struct argus_flag_entry *flag = entry;
    bytes_put_varint(payload, flag->number);
    bytes_put_varint(payload, flag->pid);
    bytes_put_varint(payload, flag->address);
    bytes_put_varint(payload, flag->bytes);
    bytes_put_varint(payload, flag->semantics);
    bytes_put_varint(payload, flag->since_ticks);
    bytes_put_varint(payload, flag->value);
    bytes_put_string(payload, flag->label);
}

struct argus_error *argus_writer_flags(struct argus_writer *writer,
                                       const struct argus_flag_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_FLAGS, entries, sizeof(*entries), put_flag};
    return put_table(writer, &table, count, writer->latest_ticks);
}

/* --- names --- */

static bool same_owner(const struct argus_name_entry *a, const struct argus_name_entry *b)
{
    return a->file == b->file && (a->file || a->pid == b->pid);
}

static uint64_t name_flags(const struct argus_name_entry *name,
                           const struct argus_name_entry *before)
{
    uint64_t flags = name->file ? 0 : LAYOUT_NAME_OF_PROCESS;
    if (before && same_owner(name, before))
        flags |= LAYOUT_NAME_SAME_OWNER;
    if (before && strcmp(name->function, before->function) == 0)
        flags |= LAYOUT_NAME_SAME_FUNCTION;
    if (before && strcmp(name->source, before->source) == 0)
        flags |= LAYOUT_NAME_SAME_SOURCE;
    flags |= name->since_ticks ? LAYOUT_NAME_HAS_SINCE : 0;
    return flags | (name->called[0] ? LAYOUT_NAME_HAS_CALLED : 0);
}

static void put_owner(struct bytes *payload, const struct argus_name_entry *name)
{
    const struct argus_image_entry *file = name->file;
    if (!file) {
        bytes_put_varint(payload, name->pid);
        return;
    }
    uint32_t length = file->build_id_bytes <= LAYOUT_BUILD_ID_BYTES ? file->build_id_bytes : 0;
    bytes_put_varint(payload, length);
    bytes_put(payload, file->build_id, length);
    if (length)
        return;
    bytes_put_varint(payload, file->inode);
    bytes_put_varint(payload, file->dev_major);
    bytes_put_varint(payload, file->dev_minor);
    bytes_put_string(payload, file->path);
}

static void put_name(struct bytes *payload, const void *entry, const void *previous)
{
    const struct argus_name_entry *name = entry, *before = previous;
    uint64_t flags = name_flags(name, before);
    uint64_t from = flags & LAYOUT_NAME_SAME_OWNER ? before->place : 0;
    bytes_put_varint(payload, flags);
    if (!(flags & LAYOUT_NAME_SAME_OWNER))
        put_owner(payload, name);
    bytes_put_varint(payload, zigzag(name->place - from));
    if (!(flags & LAYOUT_NAME_SAME_FUNCTION))
        bytes_put_string(payload, name->function);
    if (!(flags & LAYOUT_NAME_SAME_SOURCE))
        bytes_put_string(payload, name->source);
    bytes_put_varint(payload, name->line);
    bytes_put_varint(payload, name->has_start ? name->distance + 1 : 0);
    bytes_put_varint(payload, name->lack);
    if (flags & LAYOUT_NAME_HAS_SINCE)
        bytes_put_varint(payload, name->since_ticks);
    if (flags & LAYOUT_NAME_HAS_CALLED)
        bytes_put_string(payload, name->called);
}

struct argus_error *argus_writer_names(struct argus_writer *writer,
                                       const struct argus_name_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_NAMES, entries, sizeof(*entries), put_name};
    return put_table(writer, &table, count, writer->latest_ticks);
}

static void put_inlined(struct bytes *payload, const void *entry, const void *previous)
{
    const struct argus_name_entry *name = entry;
    put_name(payload, entry, previous);
    bytes_put_varint(payload, name->level);
}

struct argus_error *argus_writer_inlined(struct argus_writer *writer,
                                         const struct argus_name_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_INLINED, entries, sizeof(*entries), put_inlined};
    return put_table(writer, &table, count, writer->latest_ticks);
}

/* --- code of interpreters --- */

static void put_code(struct bytes *payload, const void *entry, const void *previous)
{
    (void)previous;
    const struct argus_code_entry *code = entry;
    bytes_put_varint(payload, code->pid);
    bytes_put_varint(payload, code->start);
    bytes_put_varint(payload, code->bytes);
    bytes_put_varint(payload, code->seen_ticks);
    bytes_put_varint(payload, code->line);
    bytes_put_string(payload, code->function);
    bytes_put_string(payload, code->source);
    bytes_put_varint(payload, code->table_bytes);
    bytes_put(payload, code->table, code->table_bytes);
}

struct argus_error *argus_writer_code(struct argus_writer *writer,
                                      const struct argus_code_entry *entries, size_t count)
{
    struct table table = {ARGUS_CHUNK_CODE, entries, sizeof(*entries), put_code};
    return put_table(writer, &table, count, writer->latest_ticks);
}

/* --- note, end --- */

struct argus_error *argus_writer_note(struct argus_writer *writer, const char *text)
{
    bytes_clear(&writer->payload);
    bytes_put_string(&writer->payload, text);
    return put_table_chunk(writer, ARGUS_CHUNK_NOTE, 1, writer->latest_ticks, &writer->payload);
}

struct argus_error *argus_writer_end(struct argus_writer *writer,
                                     const struct argus_counter *counters, size_t count)
{
    struct argus_error *error = argus_writer_flush(writer);
    if (error)
        return error;
    bytes_clear(&writer->payload);
    for (size_t i = 0; i < count; i++) {
        bytes_put_string(&writer->payload, counters[i].name);
        bytes_put_varint(&writer->payload, counters[i].value);
    }
    return put_table_chunk(writer, ARGUS_CHUNK_END, (uint32_t)count, writer->latest_ticks,
                           &writer->payload);
}
