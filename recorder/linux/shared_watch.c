#include "linux/shared_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "linux/pid_namespace.h"
#include "linux/small_file.h"

enum {
    MOST_KNOWN = 16384,
    PAUSE_NS = 200000000, /* between two looks */
};

void shared_watch_deinit(struct shared_watch *watch)
{
    vec_deinit(&watch->known);
}

static void add_due(struct shared_watch *watch, uint64_t tid)
{
    for (uint32_t i = 0; i < watch->due_count; i++)
        if (watch->due[i] == tid)
            return;
    if (watch->due_count < SHARED_WATCH_DUE)
        watch->due[watch->due_count++] = tid;
}

void shared_watch_see(struct shared_watch *watch, const struct argus_record *records, size_t count)
{
    const uint32_t mapped = ARGUS_ID_SYSCALL(SYS_mmap) | ARGUS_FUNC_START,
                   attached = ARGUS_ID_SYSCALL(SYS_shmat) | ARGUS_FUNC_START;
    watch->is_reading = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = records[i].debugid;
        if ((id == mapped && records[i].arg[3] & MAP_SHARED) || id == attached)
            add_due(watch, records[i].tid);
    }
}

/* 0: it has ended. */
static uint64_t process_of(uint64_t tid)
{
    char path[64], status[1024];
    snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)tid);
    const char *line =
        small_file_read(path, status, sizeof(status)) ? strstr(status, "\nTgid:") : NULL;
    return line ? strtoull(line + 6, NULL, 10) : 0;
}

/* NULL: it is new. */
static struct argus_record *find_known(struct shared_watch *watch,
                                       const struct argus_record *mapping)
{
    for (size_t i = 0; i < watch->known.length; i++) {
        struct argus_record *known = &watch->known.data[i];
        if (known->tid == mapping->tid && memcmp(known->arg, mapping->arg, sizeof(known->arg)) == 0)
            return known;
    }
    return NULL;
}

/* Appends the mappings of a process that are new. */
static bool look_at(struct shared_watch *watch, uint64_t pid)
{
    record_list found = {0};
    bool good = !pid || shared_mappings_of(pid, 0, MOST_KNOWN, &found);
    if (watch->known.length + found.length > MOST_KNOWN)
        watch->known.length = 0;
    for (size_t i = 0; good && i < found.length; i++)
        good = find_known(watch, &found.data[i]) || vec_push(&watch->known, found.data[i]);
    vec_deinit(&found);
    return good;
}

static bool look_at_due(struct shared_watch *watch)
{
    bool good = true;
    for (uint32_t i = 0; good && i < watch->due_count; i++)
        good = look_at(watch, process_of(watch->due[i]));
    watch->due_count = 0;
    return good;
}

/* Appends those that are shared and not yet written. */
static bool write_shared(struct shared_watch *watch, uint64_t time_ns, record_list *ret)
{
    record_list shared = {0};
    bool good = true;
    for (size_t i = 0; good && i < watch->known.length; i++)
        good = vec_push(&shared, watch->known.data[i]);
    shared_mappings_select(&shared, 0);
    for (size_t i = 0; good && i < shared.length; i++) {
        struct argus_record *known = find_known(watch, &shared.data[i]);
        if (!known || known->timestamp)
            continue;
        known->timestamp = time_ns;
        good = vec_push(ret, *known);
    }
    vec_deinit(&shared);
    return good;
}

bool shared_watch_take(struct shared_watch *watch, uint64_t time_ns, record_list *ret)
{
    bool is_first = watch->is_reading && !watch->looked_ns;
    if ((!is_first && !watch->due_count) || time_ns - watch->looked_ns < PAUSE_NS ||
        !pid_namespace_fits_proc())
        return true;
    watch->looked_ns = time_ns;
    if (is_first && !shared_mappings_all(0, &watch->known))
        return false;
    return look_at_due(watch) && write_shared(watch, time_ns, ret);
}
