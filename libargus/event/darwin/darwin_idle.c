/* The idle threads of a trace that has kperf's switches alone.
 *
 * The scheduler's own records say which thread is an idle thread (TH_IDLE in MACH_DISPATCH, and
 * MACH_IDLE). kperf reports each thread that comes on a CPU, also the idle thread
 * (osfmk/kperf/kperf.c: kperf_on_cpu_internal()), and says no more; but it samples no idle thread
 * (osfmk/kperf/action.c: SAMPLE_META_THREAD_WAS_IDLE). There is one for each CPU, it is one of the
 * kernel's threads, and it is bound to its CPU (osfmk/kern/sched_prim.c: idle_thread_create()). So
 * the idle thread of a CPU is the kernel thread without a sample of its own that came on this CPU
 * and on no other, and that ran longest of these. It counts only if it ran for most of the time
 * that such threads ran there: otherwise all of them may be something else.
 */
#include <stdlib.h>

#include "event/darwin/darwin.h"

/* Fewer switches say nothing of a thread. */
#define LEAST_TURNS 3

/* A larger number of a CPU is damaged. */
#define MOST_CPUS 4096u

#define RUNMODE_IDLE 0x40u /* osfmk/kperf/thread_samplers.c: KPERF_TI_IDLE */

struct seen_thread {
    uint64_t run_ticks;
    uint32_t cpu, turns;
    bool kernel, elsewhere, sampled, idle;
};

struct seen_cpu {
    uint64_t since, tid;
    bool known;
    uint64_t all_ticks, most_ticks; /* of the threads that may be its idle thread */
    size_t most;                    /* index of the one that ran for most_ticks */
};

struct idle_search {
    struct darwin *darwin;
    VEC(struct seen_thread) threads; /* by the index in darwin->threads */
    VEC(struct seen_cpu) cpus;       /* by number */
    bool has_scheduler, no_memory;
};

static struct seen_thread *seen(struct idle_search *search, uint64_t tid)
{
    if (!darwin_thread(search->darwin, tid)) {
        search->no_memory = true;
        return NULL;
    }
    uint32_t index = idmap_get(&search->darwin->thread_by_tid, tid);
    while (search->threads.length <= index)
        if (!vec_push(&search->threads, (struct seen_thread){.cpu = ARGUS_NONE})) {
            search->no_memory = true;
            return NULL;
        }
    return &search->threads.data[index];
}

/* NULL: the number is damaged, or memory ran out. */
static struct seen_cpu *cpu_of(struct idle_search *search, uint32_t number)
{
    while (number < MOST_CPUS && search->cpus.length <= number)
        if (!vec_push(&search->cpus, (struct seen_cpu){.known = false})) {
            search->no_memory = true;
            return NULL;
        }
    return number < MOST_CPUS ? &search->cpus.data[number] : NULL;
}

static void take_switch(struct idle_search *search, const struct argus_record *record)
{
    struct seen_cpu *cpu = cpu_of(search, record->cpu);
    struct seen_thread *leaves = cpu && cpu->known ? seen(search, cpu->tid) : NULL;
    if (leaves && record->timestamp > cpu->since)
        leaves->run_ticks += record->timestamp - cpu->since;
    struct seen_thread *comes = cpu ? seen(search, record->arg[0]) : NULL;
    if (!comes)
        return;
    *cpu = (struct seen_cpu){.since = record->timestamp, .tid = record->arg[0], .known = true};
    comes->elsewhere |= comes->turns && comes->cpu != record->cpu;
    comes->cpu = record->cpu;
    comes->kernel = record->arg[1] == 0;
    comes->turns++;
}

static void take_sample(struct idle_search *search, const struct argus_record *record)
{
    struct seen_thread *thread = seen(search, record->arg[1]);
    if (!thread)
        return;
    if (record->arg[3] & RUNMODE_IDLE)
        thread->idle = true;
    else
        thread->sampled = true;
}

static void take_record(struct idle_search *search, const struct argus_record *record)
{
    switch (ARGUS_DEBUGID_EVENT(record->debugid)) {
    case ARGUS_ID_SWITCH:
    case DARWIN_ID_DISPATCH:
    case DARWIN_ID_IDLE:
        search->has_scheduler = true;
        break;
    case DARWIN_ID_PERF_SWITCH:
        take_switch(search, record);
        break;
    case DARWIN_ID_PERF_THREAD:
        take_sample(search, record);
        break;
    default:
        break;
    }
}

/* Damaged chunks are left to the reader of the graph. */
static void take_chunk(struct idle_search *search, const struct argus_chunk *chunk,
                       struct argus_record *records)
{
    struct argus_error *error = argus_trace_read_chunk(search->darwin->trace, chunk, records);
    for (uint32_t i = 0; !error && i < chunk->count && !search->has_scheduler; i++)
        take_record(search, &records[i]);
    argus_error_destroy(error);
}

static void read_all(struct idle_search *search)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(search->darwin->trace, &chunks);
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = chunks[i].count > most ? chunks[i].count : most;
    struct argus_record *records = malloc(most * sizeof(*records));
    search->no_memory = !records;
    for (size_t i = 0; i < count && !search->no_memory && !search->has_scheduler; i++)
        take_chunk(search, &chunks[i], records);
    free(records);
}

static bool may_be_idle(const struct seen_thread *thread)
{
    return thread->kernel && !thread->elsewhere && !thread->sampled && thread->turns >= LEAST_TURNS;
}

static void add_up(struct idle_search *search)
{
    for (size_t i = 0; i < search->threads.length; i++) {
        const struct seen_thread *thread = &search->threads.data[i];
        if (!may_be_idle(thread))
            continue;
        struct seen_cpu *cpu = &search->cpus.data[thread->cpu];
        cpu->all_ticks += thread->run_ticks;
        if (thread->run_ticks > cpu->most_ticks) {
            cpu->most_ticks = thread->run_ticks;
            cpu->most = i;
        }
    }
}

/* Marks the idle threads of CPUs of which there is no doubt. */
static void mark(struct idle_search *search)
{
    add_up(search);
    for (size_t i = 0; i < search->cpus.length; i++) {
        const struct seen_cpu *cpu = &search->cpus.data[i];
        if (cpu->most_ticks > cpu->all_ticks / 2)
            search->darwin->threads.data[cpu->most].idle = true;
    }
    for (size_t i = 0; i < search->threads.length; i++)
        search->darwin->threads.data[i].idle |= search->threads.data[i].idle;
}

bool darwin_find_idle(struct darwin *darwin)
{
    struct idle_search search = {.darwin = darwin};
    read_all(&search);
    if (!search.has_scheduler && !search.no_memory)
        mark(&search);
    vec_deinit(&search.threads);
    vec_deinit(&search.cpus);
    return !search.no_memory;
}
