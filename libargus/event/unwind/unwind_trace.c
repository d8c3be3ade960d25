/* Unwinds all snapshots of a trace. */
#include "argus/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "event/lives.h"
#include "event/unwind/unwind_graft.h"

struct work {
    struct argus_trace *trace;
    struct machine machine;
    struct images images;
    struct unwinder unwinder;
    struct grafts grafts;
    struct argus_unwind_totals totals;
};

static void count(struct argus_unwind_totals *totals, uint64_t last_frame)
{
    totals->snapshots++;
    switch (last_frame) {
    case ARGUS_FRAME_CUT:
    case ARGUS_FRAME_MISSING:
        totals->cut++;
        break;
    case ARGUS_FRAME_UNKNOWN:
        totals->unknown++;
        break;
    case ARGUS_FRAME_DEEP:
        totals->deep++;
        break;
    default:
        totals->whole++;
        break;
    }
}

static struct argus_error *unwind_one(struct work *work, const struct argus_snapshot *snapshot)
{
    struct unwound unwound;
    bool kept_back;
    uint64_t time_ns = argus_trace_ticks_to_ns(work->trace, snapshot->ticks);
    uint32_t process = lives_find(&work->machine, snapshot->pid, time_ns);
    unwinder_frames(&work->unwinder, snapshot, process, &unwound);
    if (work->unwinder.no_memory ||
        !grafts_note(&work->grafts, snapshot, time_ns, process, &unwound, &kept_back))
        return argus_error_memory();
    count(&work->totals, unwound.frames[unwound.count - 1]);
    return kept_back
               ? NULL
               : argus_trace_add_stack(work->trace, snapshot->id, unwound.frames, unwound.count);
}

/* A damaged chunk is skipped: its stacks are lost, and the file's list of damage has the chunk. */
static struct argus_error *unwind_chunk(struct work *work, const struct argus_chunk *chunk)
{
    struct argus_snapshots snapshots;
    struct argus_error *error = argus_trace_read_snapshots(work->trace, chunk, &snapshots);
    if (error && error->code == ARGUS_ERROR_FORMAT) {
        work->totals.damaged_chunks++;
        argus_error_destroy(error);
        return NULL;
    }
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        work->totals.locked += chunk->count;
        argus_error_destroy(error);
        return NULL;
    }
    for (size_t i = 0; i < snapshots.count && !error; i++)
        error = unwind_one(work, &snapshots.entries[i]);
    argus_snapshots_deinit(&snapshots);
    return error;
}

static struct argus_error *unwind_all(struct work *work, argus_progress progress, void *context)
{
    const struct argus_chunk *chunks;
    size_t length = argus_trace_snapshot_chunks(work->trace, &chunks);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < length && !error; i++) {
        if (progress && !progress(context, "unwinding stacks", (double)i / (double)length))
            return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        error = unwind_chunk(work, &chunks[i]);
    }
    return error ? error
                 : grafts_finish(&work->grafts, &work->unwinder, work->trace,
                                 &work->totals.continued);
}

struct argus_error *argus_unwind_trace(struct argus_trace *trace, argus_progress progress,
                                       void *context, struct argus_unwind_totals *ret)
{
    struct work work = {.trace = trace};
    const struct argus_chunk *chunks;
    if (ret)
        *ret = work.totals;
    if (argus_trace_snapshot_chunks(trace, &chunks) == 0)
        return NULL;
    struct argus_error *error = lives_read(&work.machine, trace, progress, context);
    if (!error)
        error = images_init(&work.images, trace, work.machine.processes.data,
                            work.machine.processes.length);
    if (!error) {
        unwinder_init(&work.unwinder, trace, &work.images);
        error = unwind_all(&work, progress, context);
        grafts_deinit(&work.grafts);
        unwinder_deinit(&work.unwinder);
        images_deinit(&work.images);
    }
    machine_deinit(&work.machine);
    if (ret)
        *ret = work.totals;
    return error;
}

static struct argus_error *replace(const char *path, const struct argus_trace *trace)
{
    uint64_t lost;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot put the unwound stacks into %s", path);
    struct argus_error *error = argus_snapshots_replace(fd, trace, &lost);
    close(fd);
    return error;
}

struct argus_error *argus_unwind_file(const char *path, const struct argus_snapshot_key *key,
                                      argus_progress progress, void *context,
                                      struct argus_unwind_totals *ret)
{
    struct argus_trace *trace;
    const struct argus_chunk *chunks;
    if (ret)
        *ret = (struct argus_unwind_totals){0};
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    size_t chunk_count = argus_trace_snapshot_chunks(trace, &chunks);
    if (key)
        argus_trace_give_key(trace, key);
    error = argus_unwind_trace(trace, progress, context, ret);
    if (!error && chunk_count)
        error = replace(path, trace);
    argus_trace_close(trace);
    return error;
}
