/* The map of threads: kd_threadmap, xnu-11417.121.6 bsd/sys/kdebug_private.h:475.
 *
 * An entry has a thread ID, its process ID, and the first 19 bytes of the process's name. `valid`,
 * the process ID, is 1 both for kernel_task and for launchd (bsd/kern/kdebug.c:1467), so the name
 * distinguishes the two. 0 is an empty entry; the kernel fills a page with them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/kdebug.h"

enum { NAME_BYTES = 20, ENTRIES_AT_ONCE = 1024 };

static struct argus_error *add_entry(struct kdebug_file *file, const uint8_t *raw)
{
    struct argus_thread_entry entry = {0};
    char name[NAME_BYTES + 1] = {0};
    int32_t valid;
    size_t at = file->narrow ? 4 : 8;
    memcpy(&entry.tid, raw, at);
    memcpy(&valid, raw + at, sizeof(valid));
    memcpy(name, raw + at + sizeof(valid), NAME_BYTES);
    if (valid <= 0 || !entry.tid)
        return NULL;
    utf8_repair_name(name, strlen(name));
    uint32_t id;
    struct argus_error *error = strtab_intern(file->trace->strings, name, strlen(name), &id);
    if (error)
        return error;
    entry.pid = (uint64_t)valid;
    entry.kernel = valid == 1 && strcmp(name, "kernel_task") == 0;
    entry.name = strtab_get(file->trace->strings, id);
    return vec_push(&file->trace->tables.threads, entry) ? NULL : argus_error_memory();
}

struct argus_error *kdebug_threads_read(struct kdebug_file *file, uint64_t offset_bytes,
                                        uint64_t count)
{
    uint8_t raw[ENTRIES_AT_ONCE * 32];
    uint32_t entry_bytes = kdebug_thread_bytes(file->narrow);
    uint64_t file_bytes = file->trace->file_bytes;
    if (offset_bytes > file_bytes || count > (file_bytes - offset_bytes) / entry_bytes)
        return kdebug_bad(file, offset_bytes,
                          "the map of threads claims %llu entries of %u bytes, and the file has "
                          "only %llu bytes",
                          (unsigned long long)count, entry_bytes, (unsigned long long)file_bytes);
    struct argus_error *error = NULL;
    while (count && !error) {
        size_t now = count < ENTRIES_AT_ONCE ? (size_t)count : ENTRIES_AT_ONCE;
        error = kdebug_get(file, raw, now * entry_bytes, offset_bytes);
        for (size_t i = 0; i < now && !error; i++)
            error = add_entry(file, raw + i * entry_bytes);
        offset_bytes += now * entry_bytes;
        count -= now;
    }
    return error;
}
