/* Chunks of stack snapshots that were not yet unwound, because the recorder could not finish its
 * file. */
#include <stdlib.h>

#include "trace/cursor.h"
#include "trace/reader.h"
#include "trace/reason.h"
#include "trace/snapshot_decrypt.h"

static bool take_registers(struct cursor *cursor, struct argus_snapshot *ret)
{
    if (!take_u32(cursor, &ret->register_count) || ret->register_count > ARGUS_SNAPSHOT_REGISTERS)
        return false;
    for (uint32_t i = 0; i < ret->register_count; i++)
        if (!take_varint(cursor, &ret->registers[i]))
            return false;
    return true;
}

static bool take_snapshot(struct cursor *cursor, struct argus_snapshot *ret)
{
    uint32_t end;
    if (!take_id(cursor, &ret->id) || !take_varint(cursor, &ret->pid) ||
        !take_varint(cursor, &ret->tid) || !take_varint(cursor, &ret->ticks) ||
        !take_u32(cursor, &end) || end > ARGUS_SNAPSHOT_MISSING || !take_registers(cursor, ret) ||
        !take_u32(cursor, &ret->stack_bytes) || ret->stack_bytes > cursor->end - cursor->at)
        return false;
    ret->end = (enum argus_snapshot_end)end;
    ret->stack = cursor->payload + cursor->at;
    cursor->at += ret->stack_bytes;
    return true;
}

/* An entry's size in the payload is at least a twentieth of the struct's, so memory stays bounded
 * by the file size. */
static const char *take_all(struct cursor *cursor, uint32_t count, struct argus_snapshots *ret)
{
    VEC(struct argus_snapshot) entries = {0};
    const char *reason = NULL;
    for (uint32_t i = 0; i < count && !reason; i++) {
        struct argus_snapshot snapshot = {0};
        if (!take_snapshot(cursor, &snapshot))
            reason = "a stack snapshot is wrong or cut off";
        else if (!vec_push(&entries, snapshot))
            reason = REASON_MEMORY;
    }
    if (!reason && cursor->at != cursor->end)
        reason = "bytes are left over after its stack snapshots";
    ret->entries = entries.data;
    ret->count = entries.length;
    return reason;
}

struct argus_error *argus_trace_read_snapshots(const struct argus_trace *trace,
                                               const struct argus_chunk *chunk,
                                               struct argus_snapshots *ret)
{
    size_t bytes = chunk->unpacked_bytes;
    *ret = (struct argus_snapshots){0};
    struct argus_error *error = chunk->kind == ARGUS_CHUNK_ENCRYPTED
                                    ? snapshots_decrypt(trace, chunk, &ret->payload, &bytes)
                                    : chunk_load(trace, chunk, &ret->payload);
    if (error)
        return error;
    struct cursor cursor = {.payload = ret->payload, .end = bytes};
    error = reason_to_error(take_all(&cursor, chunk->count, ret));
    if (error)
        argus_snapshots_deinit(ret);
    return error;
}

void argus_snapshots_deinit(struct argus_snapshots *snapshots)
{
    free(snapshots->entries);
    free(snapshots->payload);
    *snapshots = (struct argus_snapshots){0};
}

size_t argus_trace_snapshot_chunks(const struct argus_trace *trace, const struct argus_chunk **ret)
{
    *ret = trace->snapshot_chunks.data;
    return trace->snapshot_chunks.length;
}

struct argus_error *argus_trace_add_stack(struct argus_trace *trace, uint64_t id,
                                          const uint64_t *frames, size_t count)
{
    struct trace_tables *tables = &trace->tables;
    size_t from = tables->stacks.length;
    if (count > ARGUS_STACK_MAX_FRAMES)
        count = ARGUS_STACK_MAX_FRAMES;
    struct trace_stack stack = {.id = id, .first = tables->frames.length, .count = (uint32_t)count};
    if (!id || !count)
        return NULL;
    if (!vec_reserve(&tables->frames, count) || !vec_push(&tables->stacks, stack))
        return argus_error_memory();
    memcpy(tables->frames.data + stack.first, frames, count * sizeof(*frames));
    tables->frames.length += count;
    return tables_index_stacks(tables, from) ? NULL : argus_error_memory();
}

/* Called on opening: a malformed chunk counts as damage of the file. */
struct argus_error *snapshots_check(const struct argus_trace *trace,
                                    const struct argus_chunk *chunk)
{
    struct argus_snapshots snapshots;
    struct argus_error *error = argus_trace_read_snapshots(trace, chunk, &snapshots);
    argus_snapshots_deinit(&snapshots);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) { /* without its key it can be right */
        argus_error_destroy(error);
        error = NULL;
    }
    return error;
}
