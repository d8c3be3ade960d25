#include "linux/shared_mappings.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "linux/pid_namespace.h"

#define MOST_MAPPINGS 16384

bool shared_mappings_parse(const char *line, struct argus_record *ret)
{
    char may[5];
    unsigned major, minor;
    uint64_t start, end, offset, inode;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end, may,
               &offset, &major, &minor, &inode) < 7 ||
        may[3] != 's' || !inode || end <= start)
        return false;
    uint64_t pages = (end - start) / ARGUS_SHARED_PAGE;
    *ret = (struct argus_record){
        .debugid = ARGUS_ID_SHARED_MEMORY,
        .arg = {start | (may[1] == 'w' ? ARGUS_SHARED_WRITABLE : 0), inode, offset,
                (pages < UINT32_MAX ? pages : UINT32_MAX) << 32 | major << 20 | minor},
    };
    return true;
}

/* A process that ends meanwhile has no mappings any more. */
bool shared_mappings_of(uint64_t pid, uint64_t time_ns, size_t most, record_list *ret)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool good = true;
    struct argus_record record;
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && good && ret->length < most && getline(&line, &room, maps) > 0) {
        if (!shared_mappings_parse(line, &record))
            continue;
        record.tid = pid;
        record.timestamp = time_ns;
        good = vec_push(ret, record);
    }
    free(line);
    if (maps)
        fclose(maps);
    return good;
}

/* --- what is shared --- */

int shared_mappings_compare(const struct argus_record *a, const struct argus_record *b)
{
    uint32_t a_device = (uint32_t)a->arg[3], b_device = (uint32_t)b->arg[3];
    if (a_device != b_device)
        return a_device < b_device ? -1 : 1;
    if (a->arg[1] != b->arg[1])
        return a->arg[1] < b->arg[1] ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->arg[0] < b->arg[0] ? -1 : a->arg[0] > b->arg[0];
}

bool shared_mappings_same_file(const struct argus_record *a, const struct argus_record *b)
{
    return (uint32_t)a->arg[3] == (uint32_t)b->arg[3] && a->arg[1] == b->arg[1];
}

static int by_file(const void *left, const void *right)
{
    return shared_mappings_compare(left, right);
}

static bool is_shared(const struct argus_record *records, size_t count)
{
    bool is_writable = false;
    for (size_t i = 0; i < count; i++)
        is_writable |= (records[i].arg[0] & ARGUS_SHARED_WRITABLE) != 0;
    return is_writable && records[0].tid != records[count - 1].tid;
}

void shared_mappings_select(record_list *records, size_t kept)
{
    size_t first = kept, end;
    if (records->length > kept)
        qsort(records->data + kept, records->length - kept, sizeof(records->data[0]), by_file);
    for (; first < records->length; first = end) {
        for (end = first + 1;
             end < records->length &&
             shared_mappings_same_file(&records->data[first], &records->data[end]);)
            end++;
        if (is_shared(&records->data[first], end - first))
            for (size_t i = first; i < end; i++)
                records->data[kept++] = records->data[i];
    }
    records->length = kept;
}

/* For all processes but the recorder; leaves out all after the first few thousand. */
static bool read_all(uint64_t time_ns, record_list *ret)
{
    size_t most = ret->length + MOST_MAPPINGS;
    bool good = true;
    const struct dirent *entry;
    DIR *proc = pid_namespace_fits_proc() ? opendir("/proc") : NULL;
    if (!proc)
        return true;
    while (good && (entry = readdir(proc))) {
        uint64_t pid = strtoull(entry->d_name, NULL, 10);
        if (pid && pid != (uint64_t)getpid())
            good = shared_mappings_of(pid, time_ns, most, ret);
    }
    closedir(proc);
    return good;
}

bool shared_mappings_read(uint64_t time_ns, record_list *ret)
{
    size_t kept = ret->length;
    bool good = read_all(time_ns, ret);
    shared_mappings_select(ret, kept);
    return good;
}
