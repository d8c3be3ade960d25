#include "linux/shared_look.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash64.h"
#include "linux/small_file.h"
#include "server/clocks.h"
#include "server/proc_stat.h"

enum {
    MOST_KNOWN = 16384,
    MOST_OF_PROCESS = 1024,
    MOST_PROCESSES = 64, /* of a look */
};

void shared_look_deinit(struct shared_look *look)
{
    vec_deinit(&look->known);
    vec_deinit(&look->due);
    vec_deinit(&look->found);
    idmap_deinit(&look->writers);
}

/* --- processes --- */

/* 0: it has ended. */
static uint64_t process_of(uint64_t tid)
{
    char path[64], status[1024];
    snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)tid);
    const char *line =
        small_file_read(path, status, sizeof(status)) ? strstr(status, "\nTgid:") : NULL;
    return line ? strtoull(line + 6, NULL, 10) : 0;
}

/* When the process started; 0: it has ended. */
static uint64_t start_of(uint64_t pid)
{
    struct proc_stat stat = {0};
    return proc_stat_read((uint32_t)pid, (uint32_t)pid, &stat) && stat.state != 'Z' &&
                   stat.state != 'X'
               ? stat.started_ticks
               : 0;
}

static bool add_process(struct shared_look *look, uint64_t pid, size_t most, tid_list *ret,
                        struct idmap *seen)
{
    if (!pid || pid == (uint64_t)getpid() || idmap_get(seen, pid) != IDMAP_NONE)
        return true;
    if (ret->length >= most) {
        look->missed++;
        return true;
    }
    return vec_push(ret, pid) && idmap_put(seen, pid, 0);
}

static bool add_all(struct shared_look *look, tid_list *ret, struct idmap *seen)
{
    bool good = true;
    const struct dirent *entry;
    DIR *proc = opendir("/proc");
    while (proc && good && (entry = readdir(proc)))
        good = add_process(look, strtoull(entry->d_name, NULL, 10), SIZE_MAX, ret, seen);
    if (proc)
        closedir(proc);
    return good;
}

/* The processes to read. */
static bool collect_processes(struct shared_look *look, tid_list *ret, struct idmap *seen)
{
    if (look->of_all)
        return add_all(look, ret, seen);
    bool good = true;
    for (size_t i = 0; good && i < look->due.length; i++)
        good = add_process(look, process_of(look->due.data[i]), MOST_PROCESSES, ret, seen);
    return good;
}

/* --- what they have mapped --- */

static uint64_t identity(const struct shared_entry *entry)
{
    uint64_t hash = hash64(entry->started, &entry->record.tid, sizeof(entry->record.tid));
    return hash64(hash, entry->record.arg, sizeof(entry->record.arg));
}

/* Keeps the mappings of the other processes that live. Of those that are read now, `written` gets
 * the identities of what has been written. */
static bool keep_living(struct shared_look *look, const struct idmap *read_now,
                        struct idmap *written)
{
    size_t kept = 0;
    uint64_t pid = 0, started = 0, now_ns = 0;
    bool good = true;
    for (size_t i = 0; good && i < look->known.length; i++) {
        struct shared_entry *entry = &look->known.data[i];
        if (idmap_get(read_now, entry->record.tid) != IDMAP_NONE) {
            good = !entry->is_written || idmap_put(written, identity(entry), 0);
            continue;
        }
        if (entry->record.tid != pid) {
            pid = entry->record.tid;
            now_ns = clock_ns(TRACE_CLOCK); /* first: it still lives then */
            started = start_of(pid);
        }
        entry->record.timestamp = now_ns;
        if (entry->started == started)
            look->known.data[kept++] = *entry;
    }
    look->known.length = kept;
    return good;
}

static bool add_found(struct shared_look *look, uint64_t started, const record_list *found,
                      const struct idmap *written)
{
    size_t count = found->length < MOST_OF_PROCESS ? found->length : MOST_OF_PROCESS;
    if (count > MOST_KNOWN - look->known.length)
        count = MOST_KNOWN - look->known.length;
    look->missed += found->length - count;
    for (size_t i = 0; i < count; i++) {
        struct shared_entry entry = {.record = found->data[i], .started = started};
        entry.is_written = idmap_get(written, identity(&entry)) != IDMAP_NONE;
        if (!vec_push(&look->known, entry))
            return false;
    }
    return true;
}

/* A process ID that is given to another process meanwhile is left out. */
static bool read_process(struct shared_look *look, uint64_t pid, const struct idmap *written)
{
    record_list found = {0};
    uint64_t started = start_of(pid), now_ns = clock_ns(TRACE_CLOCK);
    bool good = !started || shared_mappings_of(pid, now_ns, MOST_OF_PROCESS + 1, &found);
    if (good && found.length && start_of(pid) == started)
        good = add_found(look, started, &found, written);
    vec_deinit(&found);
    return good;
}

static bool renew_known(struct shared_look *look)
{
    tid_list processes = {0};
    struct idmap read_now = {0}, written = {0};
    bool good =
        collect_processes(look, &processes, &read_now) && keep_living(look, &read_now, &written);
    for (size_t i = 0; good && i < processes.length; i++)
        good = read_process(look, processes.data[i], &written);
    vec_deinit(&processes);
    idmap_deinit(&read_now);
    idmap_deinit(&written);
    return good;
}

/* --- what is shared --- */

static int by_file(const void *left, const void *right)
{
    const struct argus_record *a = &(*(struct shared_entry *const *)left)->record,
                              *b = &(*(struct shared_entry *const *)right)->record;
    return shared_mappings_compare(a, b);
}

/* Of one file; sorted by process. */
static bool is_shared(struct shared_entry *const *entries, size_t count)
{
    bool is_writable = false;
    for (size_t i = 0; i < count; i++)
        is_writable |= (entries[i]->record.arg[0] & ARGUS_SHARED_WRITABLE) != 0;
    return is_writable && entries[0]->record.tid != entries[count - 1]->record.tid;
}

static bool tell(struct shared_look *look, struct shared_entry *const *entries, size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        if (entries[i]->is_written)
            continue;
        entries[i]->is_written = true;
        good = vec_push(&look->found, entries[i]->record);
    }
    return good;
}

static bool find_shared(struct shared_look *look)
{
    size_t count = look->known.length, first, end;
    struct shared_entry **sorted = malloc((count + 1) * sizeof(struct shared_entry *));
    bool good = sorted != NULL;
    for (size_t i = 0; good && i < count; i++)
        sorted[i] = &look->known.data[i];
    if (good)
        qsort(sorted, count, sizeof(struct shared_entry *), by_file);
    for (first = 0; good && first < count; first = end) {
        for (end = first + 1; end < count && shared_mappings_same_file(&sorted[first]->record,
                                                                       &sorted[end]->record);)
            end++;
        if (is_shared(sorted + first, end - first))
            good = tell(look, sorted + first, end - first);
    }
    free((void *)sorted);
    return good;
}

static bool find_writers(struct shared_look *look)
{
    bool good = true;
    for (size_t i = 0; good && i < look->known.length; i++)
        if (look->known.data[i].record.arg[0] & ARGUS_SHARED_WRITABLE)
            good = idmap_put(&look->writers, look->known.data[i].record.tid, 0);
    return good;
}

static int by_time(const void *left, const void *right)
{
    const struct argus_record *a = left, *b = right;
    if (a->timestamp != b->timestamp)
        return a->timestamp < b->timestamp ? -1 : 1;
    return shared_mappings_compare(a, b);
}

bool shared_look_do(struct shared_look *look)
{
    look->found.length = 0;
    idmap_clear(&look->writers);
    bool good = renew_known(look) && find_shared(look) && find_writers(look);
    look->of_all = false;
    if (look->found.length)
        qsort(look->found.data, look->found.length, sizeof(look->found.data[0]), by_time);
    return good;
}
