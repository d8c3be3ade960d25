#include "argus/contents.h"

#include <stdlib.h>
#include <string.h>

#include "event/darwin/darwin.h"
#include "event/merge.h"
#include "event/tracepoints.h"

#define ID_IMAGE_A        0x1f050000u
#define ID_IMAGE_32_A     0x1f050008u
#define ID_SHARED_CACHE_A 0x1f050028u

enum { PROGRESS_EVERY = 1 << 17 };

struct reader {
    struct argus_contents *contents;
    VEC(struct argus_spawn) spawns;
    struct idmap spawn_by_pid, pid_by_tid, known_pids;
    struct kdebug_stacks stacks;
    bool no_memory;
};

static void put(struct reader *reader, struct idmap *map, uint64_t key, uint32_t number)
{
    if (!idmap_put(map, key, number))
        reader->no_memory = true;
}

static void on_new_thread(struct reader *reader, const struct argus_record *record)
{
    uint64_t pid = record->arg[1];
    bool is_copy = record->arg[2] == 1;
    uint32_t creator = idmap_get(&reader->pid_by_tid, record->tid);
    put(reader, &reader->pid_by_tid, record->arg[0], (uint32_t)pid);
    if (is_copy || idmap_get(&reader->known_pids, pid) != IDMAP_NONE)
        return;
    put(reader, &reader->known_pids, pid, 1);
    put(reader, &reader->spawn_by_pid, pid, (uint32_t)reader->spawns.length);
    struct argus_spawn spawn = {.pid = pid, .parent_pid = creator == IDMAP_NONE ? 0 : creator};
    if (!vec_push(&reader->spawns, spawn))
        reader->no_memory = true;
}

static void on_exec_name(struct reader *reader, const struct argus_record *record)
{
    uint32_t pid = idmap_get(&reader->pid_by_tid, record->tid);
    uint32_t index = pid == IDMAP_NONE ? IDMAP_NONE : idmap_get(&reader->spawn_by_pid, pid);
    if (index == IDMAP_NONE)
        return;
    struct argus_spawn *spawn = &reader->spawns.data[index];
    if (spawn->name_count < ARGUS_SPAWN_NAMES)
        tracepoint_name_bytes(record, spawn->names[spawn->name_count]);
    spawn->name_count++;
}

static void look_at(struct reader *reader, const struct argus_record *record)
{
    struct argus_contents *contents = reader->contents;
    uint32_t event = ARGUS_DEBUGID_EVENT(record->debugid);
    const struct kdebug_stack *stack = kdebug_stacks_feed(&reader->stacks, record);
    contents->user_stacks += stack && !stack->kernel;
    contents->kernel_stacks += stack && stack->kernel;
    contents->images += event == ID_IMAGE_A || event == ID_IMAGE_32_A;
    contents->shared_caches += event == ID_SHARED_CACHE_A;
    if (event == ARGUS_ID_NEW_THREAD)
        on_new_thread(reader, record);
    else if (event == ARGUS_ID_NAME_EXEC)
        on_exec_name(reader, record);
}

static void take_table(struct reader *reader, const struct argus_trace *trace)
{
    const struct argus_thread_entry *entries;
    size_t count = argus_trace_threads(trace, &entries);
    for (size_t i = 0; i < count; i++) {
        put(reader, &reader->pid_by_tid, entries[i].tid, (uint32_t)entries[i].pid);
        put(reader, &reader->known_pids, entries[i].pid, 1);
    }
}

static struct argus_error *read_all(struct reader *reader, const struct argus_trace *trace,
                                    argus_progress progress, void *context)
{
    struct merge *merge;
    const struct argus_record *record;
    double total = (double)argus_trace_record_count(trace) + 1;
    take_table(reader, trace);
    struct argus_error *error = merge_create_raw(trace, &merge);
    if (error)
        return error;
    while (!(error = merge_next(merge, &record)) && record) {
        look_at(reader, record);
        uint64_t done = merge_position(merge);
        if (reader->no_memory || reader->stacks.no_memory)
            error = argus_error_memory();
        else if (done % PROGRESS_EVERY == 0 && progress &&
                 !progress(context, "looking at the records", (double)done / total))
            error = argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        if (error)
            break;
    }
    merge_destroy(merge);
    return error;
}

struct argus_error *argus_contents_read(const struct argus_trace *trace, argus_progress progress,
                                        void *context, struct argus_contents *ret)
{
    struct reader reader = {.contents = ret};
    *ret = (struct argus_contents){0};
    if (argus_trace_header(trace)->os != ARGUS_OS_DARWIN)
        return NULL;
    struct argus_error *error = read_all(&reader, trace, progress, context);
    idmap_deinit(&reader.spawn_by_pid);
    idmap_deinit(&reader.pid_by_tid);
    idmap_deinit(&reader.known_pids);
    kdebug_stacks_deinit(&reader.stacks);
    ret->spawns = reader.spawns.data;
    ret->spawn_count = reader.spawns.length;
    if (error)
        argus_contents_deinit(ret);
    return error;
}

void argus_contents_deinit(struct argus_contents *contents)
{
    free(contents->spawns);
    *contents = (struct argus_contents){0};
}
