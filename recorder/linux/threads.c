#include "linux/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "linux/pid_namespace.h"
#include "server/clocks.h"
#include "server/proc_stat.h"

struct thread {
    uint32_t tid;
    struct bpf_thread is;
};

struct thread_list {
    VEC(struct thread) threads;
    uint64_t taken_ns; /* of the last thread_list_renew() */
};

/* False if the thread has ended. */
static bool read_thread(uint32_t pid, uint32_t tid, struct thread *ret)
{
    struct proc_stat stat;
    uint64_t seen_ns = clock_ns(CLOCK_MONOTONIC);
    if (!proc_stat_read(pid, tid, &stat))
        return false;
    *ret = (struct thread){.tid = tid,
                           .is = {.pid = pid,
                                  .parent_pid = (uint32_t)stat.parent,
                                  .kernel = stat.is_kernel,
                                  .seen_ns = seen_ns}};
    snprintf(ret->is.comm, sizeof(ret->is.comm), "%s", stat.name);
    return true;
}

static struct argus_error *read_process(struct thread_list *list, const char *pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return NULL; /* gone */
    struct argus_error *error = NULL;
    struct dirent *entry;
    while (!error && (entry = readdir(tasks))) {
        struct thread thread = {0};
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!tid || !read_thread((uint32_t)strtoul(pid, NULL, 10), tid, &thread))
            continue;
        if (!vec_push(&list->threads, thread))
            error = argus_error_memory();
    }
    closedir(tasks);
    return error;
}

static struct argus_error *read_all(struct thread_list *list)
{
    if (!pid_namespace_fits_proc())
        return NULL; /* /proc has thread IDs of another namespace */
    DIR *proc = opendir("/proc");
    if (!proc)
        return argus_error_os(errno, "cannot read /proc");
    struct argus_error *error = NULL;
    struct dirent *entry;
    while (!error && (entry = readdir(proc))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            error = read_process(list, entry->d_name);
    }
    closedir(proc);
    return error;
}

struct argus_error *thread_list_create(struct thread_list **ret)
{
    struct thread_list *list = calloc(1, sizeof(*list));
    struct argus_error *error = list ? read_all(list) : argus_error_memory();
    if (error) {
        thread_list_destroy(list);
        return error;
    }
    *ret = list;
    return NULL;
}

void thread_list_destroy(struct thread_list *list)
{
    if (!list)
        return;
    vec_deinit(&list->threads);
    free(list);
}

bool thread_list_get(const struct thread_list *list, size_t index, uint32_t *ret_tid,
                     struct bpf_thread *ret)
{
    if (index >= list->threads.length)
        return false;
    *ret_tid = list->threads.data[index].tid;
    *ret = list->threads.data[index].is;
    return true;
}

bool thread_list_add(struct thread_list *list, uint32_t tid, const struct bpf_thread *thread)
{
    return vec_push(&list->threads, (struct thread){.tid = tid, .is = *thread});
}

static int compare_seen(const void *a, const void *b)
{
    const struct thread *left = a, *right = b;
    return left->is.seen_ns < right->is.seen_ns ? -1 : left->is.seen_ns > right->is.seen_ns;
}

static struct argus_error *write_list(struct thread_list *list, struct argus_writer *writer)
{
    size_t count = list->threads.length;
    struct argus_thread_entry *entries = calloc(count ? count : 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++) {
        const struct thread *thread = &list->threads.data[i];
        entries[i] = (struct argus_thread_entry){
            .tid = thread->tid,
            .pid = thread->is.pid,
            .parent_pid = thread->is.parent_pid,
            .seen_ticks = thread->is.seen_ns,
            .name = thread->is.comm,
            .kernel = thread->is.kernel,
        };
    }
    struct argus_error *error = argus_writer_threads(writer, entries, count);
    free(entries);
    return error;
}

/* Collects the threads in `list`, in `source` and alive now. */
static struct argus_error *write_all(const struct thread_list *list,
                                     const struct thread_source *source,
                                     struct argus_writer *writer)
{
    struct thread_list now = {0};
    struct argus_error *error = NULL;
    for (size_t i = 0; i < list->threads.length && !error; i++) {
        if (!vec_push(&now.threads, list->threads.data[i]))
            error = argus_error_memory();
    }
    if (!error)
        error = source->read(source, &now);
    if (!error)
        error = read_all(&now);
    if (!error && now.threads.length > 0) {
        qsort(now.threads.data, now.threads.length, sizeof(*now.threads.data), compare_seen);
        error = write_list(&now, writer);
    }
    vec_deinit(&now.threads);
    return error;
}

struct argus_error *thread_list_write(struct thread_list *list, const struct thread_source *source,
                                      struct argus_writer *writer)
{
    return write_all(list, source, writer);
}

/* A reused ID is added to `source` again when its new thread ends; until then /proc has it. */
static struct argus_error *drop_ended(const struct thread_source *source, uint64_t before_ns)
{
    struct thread_list ended = {0};
    struct argus_error *error = source->read(source, &ended);
    for (size_t i = 0; i < ended.threads.length && !error; i++) {
        const struct thread *thread = &ended.threads.data[i];
        if (thread->is.died_ns && thread->is.died_ns < before_ns)
            source->drop(source, thread->tid);
    }
    vec_deinit(&ended.threads);
    return error;
}

/* One call later than seems necessary: an ended thread may still emit a record. */
struct argus_error *thread_list_renew(struct thread_list *list, const struct thread_source *source,
                                      uint64_t taken_ns, struct argus_writer *writer)
{
    struct argus_error *error = write_all(list, source, writer);
    if (!error)
        error = drop_ended(source, list->taken_ns);
    if (error)
        return error;
    vec_deinit(&list->threads); /* those that have ended since are in `source` */
    list->taken_ns = taken_ns;
    return NULL;
}

static void offer_all(const struct thread_list *list, struct name_search *search)
{
    for (size_t i = 0; i < list->threads.length; i++)
        name_search_offer(search, list->threads.data[i].is.comm);
}

struct argus_error *thread_list_offer_names(const struct thread_list *list,
                                            const struct thread_source *source,
                                            struct name_search *search)
{
    struct thread_list *now;
    struct argus_error *error = thread_list_create(&now);
    if (error)
        return error;
    error = source->read(source, now);
    offer_all(list, search);
    offer_all(now, search);
    thread_list_destroy(now);
    return error;
}
