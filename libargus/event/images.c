#include "event/images.h"

#include <stdlib.h>

#include "base/compat.h"

/* Forks of forks without an exec: a shell's subshells. More is a loop. */
enum { LONGEST_ANCESTRY = 64 };

static int by_pid(const void *left, const void *right, void *context)
{
    const struct argus_image_entry *entries = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (entries[a].pid != entries[b].pid)
        return entries[a].pid < entries[b].pid ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct argus_error *images_init(struct images *images, const struct argus_trace *trace,
                                const struct argus_process *processes, size_t process_count)
{
    *images =
        (struct images){.trace = trace, .processes = processes, .process_count = process_count};
    images->count = argus_trace_images(images->trace, &images->entries);
    images->by_pid = malloc((images->count + 1) * sizeof(*images->by_pid));
    if (!images->by_pid)
        return argus_error_memory();
    for (size_t i = 0; i < images->count; i++)
        images->by_pid[i] = (uint32_t)i;
    if (images->count)
        qsort_r(images->by_pid, images->count, sizeof(*images->by_pid), by_pid,
                (void *)images->entries);
    return NULL;
}

void images_deinit(struct images *images)
{
    free(images->by_pid);
    images->by_pid = NULL;
}

/* Where the entries of `pid` begin in by_pid. */
static size_t first_of(const struct images *images, uint64_t pid)
{
    size_t low = 0, high = images->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (images->entries[images->by_pid[middle]].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of two mappings of one address the better one at `time_ns`: the last that was made before, else the first after
 * (the recorder learns of some mappings a little late). */
static bool better(uint64_t mapped_ns, uint64_t than_ns, uint64_t time_ns)
{
    if ((mapped_ns <= time_ns) != (than_ns <= time_ns))
        return mapped_ns <= time_ns;
    return mapped_ns <= time_ns ? mapped_ns >= than_ns : mapped_ns < than_ns;
}

/* Whether a mapping of its process id belongs to this life of it. */
static bool in_life(const struct argus_process *process, uint64_t mapped_ns)
{
    return mapped_ns <= process->end_ns && (mapped_ns >= process->start_ns || !process->start_ns);
}

static uint32_t find_own(const struct images *images, const struct argus_process *process,
                         uint64_t time_ns, uint64_t address)
{
    uint32_t best = UINT32_MAX;
    uint64_t best_ns = 0;
    for (size_t i = first_of(images, process->pid); i < images->count; i++) {
        const struct argus_image_entry *entry = &images->entries[images->by_pid[i]];
        if (entry->pid != process->pid)
            break;
        if (address < entry->start || address >= entry->end)
            continue;
        uint64_t mapped_ns = argus_trace_ticks_to_ns(images->trace, entry->mapped_ticks);
        if (!in_life(process, mapped_ns) ||
            (best != UINT32_MAX && !better(mapped_ns, best_ns, time_ns)))
            continue;
        best = images->by_pid[i];
        best_ns = mapped_ns;
    }
    return best;
}

uint32_t images_find(const struct images *images, uint32_t process, uint64_t time_ns,
                     uint64_t address)
{
    for (int depth = 0; process < images->process_count && depth < LONGEST_ANCESTRY; depth++) {
        const struct argus_process *own = &images->processes[process];
        uint32_t found = find_own(images, own, time_ns, address);
        bool another_program = own->exec_ns && own->exec_ns <= time_ns;
        if (found != UINT32_MAX || another_program)
            return found;
        /* What the parent mapped later is not the child's. */
        time_ns = own->start_ns && own->start_ns < time_ns ? own->start_ns : time_ns;
        process = own->forked_from;
    }
    return UINT32_MAX;
}
