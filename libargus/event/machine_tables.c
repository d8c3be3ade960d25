/* Applies a trace's thread tables to the lives of machine.c. */
#include "event/machine.h"

#include <stdlib.h>

#include "base/lower_bound.h"

enum { CHECK_EVERY = 4096 }; /* rows between two checks of the memory */

static int by_tid(const void *left, const void *right)
{
    const struct machine_table_row *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->seen_ns != b->seen_ns)
        return a->seen_ns < b->seen_ns ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static int by_time(const void *left, const void *right)
{
    const struct machine_table_row *a = left, *b = right;
    if (a->seen_ns != b->seen_ns)
        return a->seen_ns < b->seen_ns ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void set_next_row(struct machine *machine)
{
    machine->next_row_ns = machine->next_row < machine->by_time.length
                               ? machine->by_time.data[machine->next_row].seen_ns
                               : UINT64_MAX;
}

struct argus_error *machine_sort_tables(struct machine *machine)
{
    const struct argus_thread_entry *entries;
    size_t count = argus_trace_threads(machine->trace, &entries);
    if (!vec_reserve(&machine->by_tid, count) || !vec_reserve(&machine->by_time, count))
        return argus_error_memory();
    for (size_t i = 0; i < count; i++) {
        struct machine_table_row row = {
            .tid = entries[i].tid,
            .seen_ns = argus_trace_ticks_to_ns(machine->trace, entries[i].seen_ticks),
            .entry = (uint32_t)i,
        };
        machine->by_tid.data[machine->by_tid.length++] = row;
        machine->by_time.data[machine->by_time.length++] = row;
    }
    if (count) {
        qsort(machine->by_tid.data, count, sizeof(*machine->by_tid.data), by_tid);
        qsort(machine->by_time.data, count, sizeof(*machine->by_time.data), by_time);
    }
    set_next_row(machine);
    return NULL;
}

static const struct argus_thread_entry *entry_at(const struct machine *machine, uint32_t index)
{
    const struct argus_thread_entry *entries;
    argus_trace_threads(machine->trace, &entries);
    return &entries[index];
}

/* Applies `entry` to its thread. The name is later than what earlier records told. */
static void apply(struct machine *machine, uint32_t thread, const struct argus_thread_entry *entry,
                  struct machine_origin origin)
{
    if (machine->origins.data[thread].source != MACHINE_KNOWN) {
        /* Darwin's maps have launchd's process ID for the kernel; the name distinguishes them */
        bool is_kernel_task = machine->darwin && entry->kernel;
        uint32_t home = machine_process(machine, is_kernel_task ? 0 : entry->pid);
        if (home == ARGUS_NONE)
            return;
        machine->threads.data[thread].process = home;
        machine->origins.data[thread] = origin;
    }
    struct argus_process *process = &machine->processes.data[machine->threads.data[thread].process];
    machine_rename(machine, thread, entry->name);
    if (machine->darwin) {
        if (!process->name[0])
            process->name = machine->threads.data[thread].name;
        process->kernel |= entry->kernel;
        return;
    }
    if (process->pid != entry->pid)
        return;
    if (!process->parent_pid)
        process->parent_pid = entry->parent_pid;
    process->kernel = entry->kernel;
}

/* The first entry of `tid` that was not applied yet. */
void machine_first_sight(struct machine *machine, uint32_t thread, uint64_t tid)
{
    const struct machine_table_row *rows = machine->by_tid.data;
    size_t first, count = machine->by_tid.length;
    LOWER_BOUND(first, count,
                rows[first].tid < tid ||
                    (rows[first].tid == tid && rows[first].seen_ns < machine->next_row_ns));
    if (first == count || rows[first].tid != tid)
        return;
    const struct machine_table_row *row = &rows[first];
    struct machine_origin later = {.seen_ns = row->seen_ns, .source = MACHINE_LATER};
    apply(machine, thread, entry_at(machine, row->entry), later);
}

/* Makes `thread` unknown again: the entry that described it was about a later thread with the same
 * ID. */
void machine_forget(struct machine *machine, uint32_t thread)
{
    struct argus_thread *life = &machine->threads.data[thread];
    uint32_t process = machine_add_process(machine, life->tid);
    if (process != ARGUS_NONE)
        life->process = process;
    life->name = "";
    machine->origins.data[thread] = (struct machine_origin){.source = MACHINE_UNKNOWN};
}

static void apply_row(struct machine *machine, const struct machine_table_row *row)
{
    const struct argus_thread_entry *entry = entry_at(machine, row->entry);
    struct machine_origin known = {.source = MACHINE_KNOWN};
    uint32_t thread = machine_find_thread(machine, row->tid);
    if (thread == ARGUS_NONE && row->tid) {
        /* tables also list threads that have ended */
        uint32_t gone = idmap_get(&machine->gone_by_tid, row->tid);
        if (gone != IDMAP_NONE) {
            if (!machine->threads.data[gone].name[0])
                apply(machine, gone, entry, known);
            return;
        }
        thread = machine_thread(machine, row->tid);
    }
    if (thread != ARGUS_NONE)
        apply(machine, thread, entry, known);
}

/* NULL: the file does not ask for too much memory. Its records say where in it reading is. */
static struct argus_error *check_bound(const struct machine *machine)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(machine->trace, &chunks);
    return argus_trace_check_memory(machine->trace, count ? chunks[0].offset_bytes : 0);
}

/* A row is a thread, perhaps with a process, of which no record tells: so merge.h, where memory is
 * checked, does not see them. */
static bool is_too_much(const struct machine *machine)
{
    struct argus_error *error = machine->next_row % CHECK_EVERY ? NULL : check_bound(machine);
    argus_error_destroy(error);
    return error != NULL;
}

void machine_apply_tables(struct machine *machine, uint64_t now_ns)
{
    while (machine->next_row < machine->by_time.length && !machine->no_memory &&
           machine->by_time.data[machine->next_row].seen_ns <= now_ns) {
        apply_row(machine, &machine->by_time.data[machine->next_row++]);
        set_next_row(machine);
        machine->no_memory |= is_too_much(machine);
    }
}

struct argus_error *machine_memory_error(const struct machine *machine)
{
    struct argus_error *error = check_bound(machine);
    return error ? error : argus_error_memory();
}
