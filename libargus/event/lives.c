#include "event/lives.h"

#include "event/merge.h"

enum { PROGRESS_EVERY = 1 << 17 }; /* records */

void lives_follow(struct machine *machine, const struct argus_record *record)
{
    if (machine->next_row_ns <= record->timestamp)
        machine_apply_tables(machine, record->timestamp);
    uint32_t thread;
    switch (record->debugid) {
    case ARGUS_ID_NEW_THREAD:
        thread = machine_thread(machine, record->tid);
        machine_new_thread(machine, record, thread, record->timestamp);
        break;
    case ARGUS_ID_EXEC:
        thread = machine_thread(machine, record->tid);
        if (thread != ARGUS_NONE)
            machine_exec(machine, thread, record->timestamp);
        break;
    case ARGUS_ID_THREAD_EXIT:
        thread = machine_find_thread(machine, record->arg[0]);
        if (thread != ARGUS_NONE)
            machine_thread_exit(machine, thread, record->arg[1] == 1, record->timestamp);
        break;
    default:
        break;
    }
}

static struct argus_error *read_records(struct machine *machine, struct merge *merge,
                                        uint64_t total, const struct lives_reading *reading)
{
    for (;;) {
        const struct argus_record *record;
        struct argus_error *error = merge_next(merge, &record);
        if (error || !record)
            return error;
        uint64_t position = merge_position(merge);
        if (position % PROGRESS_EVERY == 0 && reading->progress && total &&
            !reading->progress(reading->progress_context, reading->what,
                               (double)position / (double)total))
            return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        lives_follow(machine, record);
        bool taken = !reading->visit || reading->visit(reading->context, record);
        if (!taken || machine->no_memory)
            return machine_memory_error(machine);
    }
}

struct argus_error *lives_read_and_visit(struct machine *machine, const struct argus_trace *trace,
                                         const struct lives_reading *reading)
{
    struct merge *merge = NULL;
    struct argus_error *error = machine_init(machine, trace);
    if (!error)
        error = merge_create(trace, &merge);
    if (!error)
        error = read_records(machine, merge, argus_trace_record_count(trace), reading);
    merge_destroy(merge);
    if (error)
        return error;
    machine_finish(machine);
    return machine->no_memory ? machine_memory_error(machine) : NULL;
}

struct argus_error *lives_read(struct machine *machine, const struct argus_trace *trace,
                               argus_progress progress, void *context)
{
    const struct lives_reading reading = {
        .what = "looking for processes", .progress = progress, .progress_context = context};
    return lives_read_and_visit(machine, trace, &reading);
}

uint32_t lives_find(const struct machine *machine, uint64_t pid, uint64_t time_ns)
{
    uint32_t found = ARGUS_NONE; /* the last life that began before */
    for (uint32_t i = 0; i < machine->processes.length; i++) {
        const struct argus_process *process = &machine->processes.data[i];
        if (process->pid == pid && process->start_ns <= time_ns &&
            (found == ARGUS_NONE || process->start_ns >= machine->processes.data[found].start_ns))
            found = i;
    }
    return found;
}
