#include "linux/perf/seen_threads.h"

#include <stdlib.h>

/* Without memory the recorder continues without the name. */
#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(elem) ((elem)->failed = true)
#include <uthash.h>
#include <utlist.h>

#define ENDED_LIMIT 65536u

struct entry {
    UT_hash_handle hh;
    struct entry *prev, *next; /* in the list of ended threads */
    uint32_t tid;
    bool failed, has_ended;
    struct bpf_thread is;
};

struct process {
    UT_hash_handle hh;
    uint32_t pid, live;
    bool failed;
};

struct seen_threads {
    struct entry *by_tid;
    struct process *by_pid;
    struct entry *ended; /* the first of them */
    uint32_t ended_count;
};

struct seen_threads *seen_threads_create(void)
{
    return calloc(1, sizeof(struct seen_threads));
}

void seen_threads_destroy(struct seen_threads *threads)
{
    if (!threads)
        return;
    struct entry *entry = threads->by_tid, *next_entry;
    struct process *process = threads->by_pid, *next_process;
    HASH_CLEAR(hh, threads->by_tid);
    HASH_CLEAR(hh, threads->by_pid);
    for (; entry; entry = next_entry) {
        next_entry = entry->hh.next;
        free(entry);
    }
    for (; process; process = next_process) {
        next_process = process->hh.next;
        free(process);
    }
    free(threads);
}

static struct entry *find(const struct seen_threads *threads, uint32_t tid)
{
    struct entry *entry;
    HASH_FIND(hh, threads->by_tid, &tid, sizeof(tid), entry);
    return entry;
}

const struct bpf_thread *seen_threads_find(const struct seen_threads *threads, uint32_t tid)
{
    const struct entry *entry = find(threads, tid);
    return entry ? &entry->is : NULL;
}

static struct process *find_process(const struct seen_threads *threads, uint32_t pid)
{
    struct process *process;
    HASH_FIND(hh, threads->by_pid, &pid, sizeof(pid), process);
    return process;
}

static void process_add_thread(struct seen_threads *threads, uint32_t pid)
{
    struct process *process = find_process(threads, pid);
    if (!process) {
        process = calloc(1, sizeof(*process));
        if (!process)
            return;
        process->pid = pid;
        HASH_ADD(hh, threads->by_pid, pid, sizeof(process->pid), process);
        if (process->failed) {
            free(process);
            return;
        }
    }
    process->live++;
}

/* true when it was the last one. */
static bool process_end_thread(struct seen_threads *threads, uint32_t pid)
{
    struct process *process = find_process(threads, pid);
    if (!process || --process->live > 0)
        return false;
    HASH_DEL(threads->by_pid, process);
    free(process);
    return true;
}

static struct entry *add(struct seen_threads *threads, uint32_t tid)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->tid = tid;
    HASH_ADD(hh, threads->by_tid, tid, sizeof(entry->tid), entry);
    if (entry->failed) {
        free(entry);
        return NULL;
    }
    return entry;
}

void seen_threads_put(struct seen_threads *threads, uint32_t tid, const struct bpf_thread *thread)
{
    struct entry *entry = find(threads, tid);
    bool is_new = !entry || entry->has_ended;
    if (entry && entry->has_ended) { /* the ID is in use again */
        DL_DELETE(threads->ended, entry);
        threads->ended_count--;
        entry->has_ended = false;
    }
    if (!entry)
        entry = add(threads, tid);
    if (!entry)
        return;
    entry->is = *thread;
    if (is_new)
        process_add_thread(threads, thread->pid);
}

/* The thread has ended. */
static void forget(struct seen_threads *threads, struct entry *entry)
{
    DL_DELETE(threads->ended, entry);
    threads->ended_count--;
    HASH_DEL(threads->by_tid, entry);
    free(entry);
}

bool seen_threads_end(struct seen_threads *threads, uint32_t tid, uint64_t died_ns)
{
    struct entry *entry = find(threads, tid);
    if (!entry || entry->has_ended)
        return false;
    entry->has_ended = true;
    entry->is.died_ns = died_ns;
    DL_APPEND(threads->ended, entry);
    uint32_t pid = entry->is.pid;
    if (++threads->ended_count > ENDED_LIMIT)
        forget(threads, threads->ended);
    return process_end_thread(threads, pid);
}

static struct argus_error *read_all(const struct thread_source *source, struct thread_list *list)
{
    for (const struct entry *entry = source->threads->by_tid; entry; entry = entry->hh.next) {
        if (!thread_list_add(list, entry->tid, &entry->is))
            return argus_error_memory();
    }
    return NULL;
}

static void drop(const struct thread_source *source, uint32_t tid)
{
    struct entry *entry = find(source->threads, tid);
    if (entry && entry->has_ended)
        forget(source->threads, entry);
}

struct thread_source seen_threads_source(struct seen_threads *threads)
{
    return (struct thread_source){.read = read_all, .drop = drop, .threads = threads};
}
