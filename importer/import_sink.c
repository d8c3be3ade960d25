#include "import_sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "import_sink_data.h"

enum { CHUNK_RECORDS = 16384, TABLE_ROWS = 1024 };

static const enum argus_arch own_arch =
#ifdef __aarch64__
    ARGUS_ARCH_AARCH64;
#else
    ARGUS_ARCH_X86_64;
#endif

struct sink *sink_create(void)
{
    struct sink *sink = calloc(1, sizeof(*sink));
    if (sink)
        sink->header = (struct argus_trace_header){.os = ARGUS_OS_LINUX,
                                                   .arch = own_arch,
                                                   .timebase_numer = 1,
                                                   .timebase_denom = 1,
                                                   .page_bytes = 4096};
    return sink;
}

static void free_names(struct sink *sink)
{
    for (size_t i = 0; i < sink->threads.length; i++)
        free((char *)sink->threads.data[i].name);
    for (size_t i = 0; i < sink->images.length; i++)
        free((char *)sink->images.data[i].path);
    for (size_t i = 0; i < sink->notes.length; i++)
        free(sink->notes.data[i]);
    for (size_t i = 0; i < sink->marks.length; i++)
        free(sink->marks.data[i]);
    for (size_t i = 0; i < sink->code.length; i++) {
        free((char *)sink->code.data[i].function);
        free((char *)sink->code.data[i].source);
    }
    for (size_t i = 0; i < sink->snapshots.length; i++)
        free((uint8_t *)sink->snapshots.data[i].stack);
}

static void deinit(struct sink *sink)
{
    free_names(sink);
    vec_deinit(&sink->records);
    vec_deinit(&sink->threads);
    vec_deinit(&sink->images);
    vec_deinit(&sink->notes);
    vec_deinit(&sink->stacks);
    vec_deinit(&sink->frames);
    vec_deinit(&sink->snapshots);
    vec_deinit(&sink->marks);
    vec_deinit(&sink->code);
    idmap_deinit(&sink->thread_of_tid);
    idmap_deinit(&sink->known_stacks);
    idmap_deinit(&sink->mark_of_name);
    idmap_deinit(&sink->name_of_tid);
    other_kinds_deinit(&sink->others);
    argus_error_destroy(sink->error);
}

void sink_destroy(struct sink *sink)
{
    if (sink)
        deinit(sink);
    free(sink);
}

void sink_clear(struct sink *sink)
{
    struct argus_trace_header header = sink->header;
    deinit(sink);
    header.cpu_count = 0;
    *sink = (struct sink){.header = header};
}

struct argus_trace_header *sink_header(struct sink *sink)
{
    return &sink->header;
}

void sink_fail(struct sink *sink, struct argus_error *error)
{
    if (sink->error)
        argus_error_destroy(error);
    else
        sink->error = error;
}

bool sink_failed(const struct sink *sink)
{
    return sink->error != NULL;
}

static void keep(struct sink *sink, bool kept)
{
    if (!kept)
        sink_fail(sink, argus_error_memory());
}

/* --- records --- */

static void add(struct sink *sink, const struct argus_record *record, uint64_t lost)
{
    struct kept_record kept = {*record, lost, sink->records.length};
    if (sink->error)
        return;
    if (record->cpu >= SINK_MOST_CPUS) {
        sink_fail(sink, argus_error_create(ARGUS_ERROR_FORMAT,
                                           "a record is of CPU %u, and there "
                                           "are at most %u",
                                           record->cpu, SINK_MOST_CPUS));
        return;
    }
    if (record->timestamp > sink->last_ns)
        sink->last_ns = record->timestamp;
    if (record->cpu >= sink->header.cpu_count)
        sink->header.cpu_count = record->cpu + 1;
    keep(sink, vec_push(&sink->records, kept));
}

void sink_record(struct sink *sink, const struct argus_record *record)
{
    add(sink, record, 0);
}

void sink_lost(struct sink *sink, uint32_t cpu, uint64_t time_ns, uint64_t count)
{
    struct argus_record place = {.timestamp = time_ns, .cpu = cpu};
    if (count)
        add(sink, &place, count);
}

/* --- tables --- */

void sink_thread(struct sink *sink, uint64_t tid, uint64_t pid, uint64_t parent, const char *name,
                 bool kernel)
{
    uint32_t number = idmap_get(&sink->thread_of_tid, tid);
    if (!tid || sink->error)
        return;
    if (number == IDMAP_NONE) {
        number = (uint32_t)sink->threads.length;
        keep(sink, vec_push(&sink->threads, (struct argus_thread_entry){.tid = tid}) &&
                       idmap_put(&sink->thread_of_tid, tid, number));
        if (sink->error)
            return;
    }
    struct argus_thread_entry *entry = &sink->threads.data[number];
    entry->pid = pid ? pid : entry->pid;
    entry->parent_pid = parent ? parent : entry->parent_pid;
    entry->kernel |= kernel;
    if (name && *name && !entry->name) {
        entry->name = strdup(name);
        keep(sink, entry->name != NULL);
    }
}

/* The kernel's names are at most this long. */
enum { NAME_BYTES = 15 };

/* Never IDMAP_NONE. */
static uint32_t hash_of_name(const char *name)
{
    return (uint32_t)hash64(0, name, strnlen(name, NAME_BYTES)) >> 1;
}

static void put_name(struct sink *sink, const struct argus_record *place, uint64_t named,
                     const char *name)
{
    struct argus_record record = *place;
    keep(sink, idmap_put(&sink->name_of_tid, named, hash_of_name(name)));
    memset(record.arg, 0, sizeof(record.arg));
    memcpy(record.arg, name, strnlen(name, NAME_BYTES));
    sink_record(sink, &record);
}

void sink_name(struct sink *sink, const struct argus_record *place, const char *name)
{
    uint64_t tid = place->tid;
    uint32_t known = idmap_get(&sink->name_of_tid, tid);
    if (!*name || !tid || sink->error)
        return;
    sink_thread(sink, tid, 0, 0, name, false);
    if (place->debugid != ARGUS_ID_NAME_THREAD ||
        (known != IDMAP_NONE && known != hash_of_name(name) && place->timestamp))
        put_name(sink, place, tid, name);
    else if (known == IDMAP_NONE)
        keep(sink, idmap_put(&sink->name_of_tid, tid, hash_of_name(name)));
}

void sink_name_child(struct sink *sink, const struct argus_record *place, uint64_t child,
                     const char *name)
{
    if (child && !sink->error)
        put_name(sink, place, child, name);
}

uint64_t sink_process(const struct sink *sink, uint64_t tid)
{
    uint32_t number = idmap_get(&sink->thread_of_tid, tid);
    return number == IDMAP_NONE ? 0 : sink->threads.data[number].pid;
}

uint64_t sink_stack(struct sink *sink, const uint64_t *frames, size_t count)
{
    if (!count || sink->error)
        return 0;
    if (count > ARGUS_STACK_MAX_FRAMES)
        count = ARGUS_STACK_MAX_FRAMES;
    uint64_t id = hash64(0, frames, count * sizeof(*frames)) | 1;
    if (idmap_get(&sink->known_stacks, id) != IDMAP_NONE)
        return id;
    struct kept_stack stack = {id, sink->frames.length, count};
    if (!vec_reserve(&sink->frames, count) || !vec_push(&sink->stacks, stack) ||
        !idmap_put(&sink->known_stacks, id, 0)) {
        sink_fail(sink, argus_error_memory());
        return 0;
    }
    memcpy(sink->frames.data + sink->frames.length, frames, count * sizeof(*frames));
    sink->frames.length += count;
    return id;
}

uint64_t sink_snapshot(struct sink *sink, const struct argus_snapshot *snapshot)
{
    struct argus_snapshot kept = *snapshot;
    if (sink->error || !snapshot->stack_bytes)
        return 0;
    uint64_t id = hash64(hash64(snapshot->pid, snapshot->registers, sizeof(snapshot->registers)),
                         snapshot->stack, snapshot->stack_bytes) |
                  1;
    if (idmap_get(&sink->known_stacks, id) != IDMAP_NONE)
        return id;
    uint8_t *copy = malloc(snapshot->stack_bytes);
    kept.id = id;
    kept.stack = copy;
    if (!copy || !vec_push(&sink->snapshots, kept)) {
        free(copy);
        sink_fail(sink, argus_error_memory());
        return 0;
    }
    memcpy(copy, snapshot->stack, snapshot->stack_bytes);
    keep(sink, idmap_put(&sink->known_stacks, id, 0));
    return id;
}

void sink_image(struct sink *sink, const struct argus_image_entry *image)
{
    struct argus_image_entry kept = *image;
    if (sink->error)
        return;
    kept.path = strdup(image->path);
    if (kept.path && vec_push(&sink->images, kept))
        return; // cppcheck-suppress memleak // the vector has it
    free((char *)kept.path);
    sink_fail(sink, argus_error_memory());
}

void sink_code(struct sink *sink, const struct argus_code_entry *code)
{
    struct argus_code_entry kept = *code;
    if (sink->error)
        return;
    kept.function = strdup(code->function);
    kept.source = strdup(code->source);
    if (kept.function && kept.source && vec_push(&sink->code, kept))
        return; // cppcheck-suppress memleak // the vector has them
    free((char *)kept.function);
    free((char *)kept.source);
    sink_fail(sink, argus_error_memory());
}

uint32_t sink_mark(struct sink *sink, const char *name)
{
    uint64_t id = hash64(0, name, strlen(name));
    uint32_t known = idmap_get(&sink->mark_of_name, id);
    char *copy;
    if (known != IDMAP_NONE)
        return ARGUS_PROBE_FIRST_HOOK + known;
    if (sink->error || sink->marks.length == MOST_MARKS)
        return 0;
    known = (uint32_t)sink->marks.length;
    copy = strdup(name);
    if (!copy || !vec_push(&sink->marks, copy)) {
        free(copy);
        sink_fail(sink, argus_error_memory());
        return 0;
    }
    keep(sink, idmap_put(&sink->mark_of_name, id, known));
    return ARGUS_PROBE_FIRST_HOOK + known; // cppcheck-suppress memleak // the vector has it
}

void sink_other(struct sink *sink, const char *name, uint64_t count)
{
    if (!sink->error)
        keep(sink, other_kinds_add(&sink->others, name, count));
}

void sink_note(struct sink *sink, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0 && vec_push(&sink->notes, text))
        return;
    if (length >= 0)
        free(text);
    sink_fail(sink, argus_error_memory());
}

/* --- writing --- */

static int compare_records(const void *a, const void *b)
{
    const struct kept_record *x = a, *y = b;
    if (x->record.cpu != y->record.cpu)
        return x->record.cpu < y->record.cpu ? -1 : 1;
    if (x->record.timestamp != y->record.timestamp)
        return x->record.timestamp < y->record.timestamp ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Some tracers record a wake-up twice: where the waker runs, and where the woken thread will run.
 * The second one does not know the waker. */
static bool is_left_out(const struct kept_record *kept, bool has_wakers)
{
    return !kept->lost && kept->record.unused == SINK_WAKE_AT_WAKEE && has_wakers;
}

static bool has_wakers(const struct sink *sink)
{
    for (size_t i = 0; i < sink->records.length; i++)
        if (sink->records.data[i].record.unused == SINK_WAKE_AT_WAKER)
            return true;
    return false;
}

struct cpu_chunk {
    struct argus_writer *writer;
    struct argus_record *records; /* owned; room for CHUNK_RECORDS */
    size_t count;
    uint64_t lost;
    uint32_t cpu;
};

static struct argus_error *flush(struct cpu_chunk *chunk)
{
    struct argus_error *error =
        argus_writer_records(chunk->writer, chunk->cpu, chunk->records, chunk->count, chunk->lost);
    chunk->count = 0;
    chunk->lost = 0;
    return error;
}

static struct argus_error *write_record(struct cpu_chunk *chunk, const struct kept_record *kept)
{
    struct argus_error *error = NULL;
    if (kept->record.cpu != chunk->cpu || (kept->lost && chunk->count) ||
        chunk->count == CHUNK_RECORDS)
        error = flush(chunk);
    chunk->cpu = kept->record.cpu;
    chunk->lost += kept->lost;
    if (kept->lost)
        return error;
    chunk->records[chunk->count] = kept->record;
    chunk->records[chunk->count++].unused = 0;
    return error;
}

static struct argus_error *write_records(struct sink *sink, struct argus_writer *writer)
{
    bool wakers = has_wakers(sink);
    struct cpu_chunk chunk = {.writer = writer,
                              .records = malloc(CHUNK_RECORDS * sizeof(struct argus_record))};
    struct argus_error *error = chunk.records ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < sink->records.length; i++)
        if (!is_left_out(&sink->records.data[i], wakers))
            error = write_record(&chunk, &sink->records.data[i]);
    if (!error)
        error = flush(&chunk);
    free(chunk.records);
    return error;
}

/* Kernel threads, of which a file may not say that they are. Only the kernel makes such names. */
static bool is_kernel_name(const char *name)
{
    static const char *const beginnings[] = {"kworker/", "ksoftirqd/", "migration/", "irq/",
                                             "rcu_",     "cpuhp/",     "kswapd",     "jbd2/"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

enum { KTHREADD = 2 }; /* the parent of all other kernel threads */

/* A thread whose process is unknown is a process of its own. */
static void complete_threads(struct sink *sink, uint64_t first_ns)
{
    size_t alone = 0;
    for (size_t i = 0; i < sink->threads.length; i++) {
        struct argus_thread_entry *entry = &sink->threads.data[i];
        entry->seen_ticks = first_ns;
        alone += !entry->pid;
        entry->pid = entry->pid ? entry->pid : entry->tid;
        if (!entry->name && (entry->name = strdup("")) == NULL) {
            sink_fail(sink, argus_error_memory());
            return;
        }
        entry->kernel |= entry->tid == KTHREADD || entry->parent_pid == KTHREADD ||
                         (!entry->parent_pid && is_kernel_name(entry->name));
    }
    if (alone)
        sink_note(sink,
                  "imported: of %zu threads the file does not say to which process they belong; "
                  "each counts as a process of its own",
                  alone);
}

static struct argus_error *write_stacks(struct sink *sink, struct argus_writer *writer)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < sink->stacks.length; i++)
        error = argus_writer_stack(writer, sink->stacks.data[i].id,
                                   sink->frames.data + sink->stacks.data[i].first,
                                   sink->stacks.data[i].count);
    for (size_t i = 0; !error && i < sink->snapshots.length; i++)
        error = argus_writer_snapshot(writer, &sink->snapshots.data[i]);
    return error;
}

static struct argus_error *write_marks(const struct sink *sink, struct argus_writer *writer)
{
    size_t count = sink->marks.length;
    struct argus_probe_entry *entries = calloc(count + 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct argus_probe_entry){.number = ARGUS_PROBE_FIRST_HOOK + (uint32_t)i,
                                                .shape = ARGUS_PROBE_NOTE,
                                                .library = "",
                                                .symbol = sink->marks.data[i],
                                                .label = sink->marks.data[i]};
    struct argus_error *error = argus_writer_probes(writer, entries, count);
    free(entries);
    return error;
}

static struct argus_error *write_tables(struct sink *sink, struct argus_writer *writer)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < sink->notes.length; i++)
        error = argus_writer_note(writer, sink->notes.data[i]);
    for (size_t i = 0; !error && i < sink->threads.length; i += TABLE_ROWS) {
        size_t rest = sink->threads.length - i;
        error = argus_writer_threads(writer, sink->threads.data + i,
                                     rest < TABLE_ROWS ? rest : TABLE_ROWS);
    }
    for (size_t i = 0; !error && i < sink->images.length; i += TABLE_ROWS) {
        size_t rest = sink->images.length - i;
        error = argus_writer_images(writer, sink->images.data + i,
                                    rest < TABLE_ROWS ? rest : TABLE_ROWS);
    }
    if (!error && sink->code.length)
        error = argus_writer_code(writer, sink->code.data, sink->code.length);
    if (!error)
        error = write_marks(sink, writer);
    return error ? error : write_stacks(sink, writer);
}

static uint64_t first_time(const struct sink *sink)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < sink->records.length; i++)
        if (sink->records.data[i].record.timestamp < first_ns && !sink->records.data[i].lost)
            first_ns = sink->records.data[i].record.timestamp;
    return first_ns;
}

uint64_t sink_last_ns(const struct sink *sink)
{
    return sink->last_ns;
}

static void note_others(struct sink *sink)
{
    char text[400];
    if (!sink->others.count)
        return;
    other_kinds_write(&sink->others, text, sizeof(text));
    if (sink->others.count == 1)
        sink_note(sink, "1 event of the file is of a kind that Argus does not use: %s", text);
    else
        sink_note(sink, "%" PRIu64 " events of the file are of kinds that Argus does not use: %s",
                  sink->others.count, text);
}

static struct argus_error *nothing_error(const struct sink *sink)
{
    char text[400];
    other_kinds_write(&sink->others, text, sizeof(text));
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "it has no event that Argus can use, such as sched_switch%s%s",
                              *text ? "; it has " : "", text);
}

struct argus_error *sink_write(struct sink *sink, int fd)
{
    struct argus_writer *writer = NULL;
    struct argus_error *error = sink->error;
    sink->error = NULL;
    if (!error && !sink->records.length)
        error = nothing_error(sink);
    if (error)
        return error;
    qsort(sink->records.data, sink->records.length, sizeof(*sink->records.data), compare_records);
    complete_threads(sink, first_time(sink));
    note_others(sink);
    error = sink->error;
    sink->error = NULL;
    if (!error)
        error = argus_writer_create(fd, &sink->header, &writer);
    if (!error)
        error = write_tables(sink, writer);
    if (!error)
        error = write_records(sink, writer);
    if (!error)
        error = argus_writer_end(writer, NULL, 0);
    argus_writer_destroy(writer);
    return error;
}
