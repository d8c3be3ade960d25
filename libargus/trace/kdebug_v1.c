/* V1: what trace(1) and the kernel's KERN_KDWRITEMAP write. xnu-11417.121.6
 * bsd/sys/kdebug_private.h:497, bsd/kern/kdebug.c:1909; system_cmds-953 trace.tproj/trace.c:957 is
 * Apple's own reader.
 *
 *     u32 magic   i32 thread_count   u64 seconds   u32 microseconds   [4 bytes]   kd_threadmap[thread_count]
 *     [V1+: u32 magic, u32 cpu_count, cpu_count entries of 16 bytes]
 *     from the next multiple of 4096 on: records to the end of the file
 *
 * The kernel pads the map with empty entries to its own page size, which may be larger than 4096,
 * so the rule of 4096 holds there too. If the map ends at a multiple of 4096, a whole empty page
 * follows; it is read as empty records, which are left out. No field gives the width of the
 * records; it follows from the map. Entries of a 64-bit kernel are 32 bytes from offset 24 on, of a
 * 32-bit one 28 bytes from offset 20, or 24 on armv7k, whose compiler aligns as the 64-bit ones do.
 */
#include <string.h>

#include "trace/kdebug.h"

struct v1_head {
    uint32_t magic;
    int32_t thread_count;
    uint64_t seconds;
    uint32_t microseconds;
} __attribute__((packed));

struct v1_cpu_map {
    uint32_t magic, cpu_count;
};

enum { PAGE = 4096, PROBED = 16, CPU_ENTRY_BYTES = 16, MOST_CPUS = 4096 };

/* The possible layouts of the header, the most likely first. */
static const struct v1_shape {
    uint32_t head_bytes;
    bool narrow;
} shapes[] = {{24, false}, {20, true}, {24, true}};

static bool is_name(const uint8_t *text)
{
    for (size_t i = 0; i < 20 && text[i]; i++)
        if (text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

/* Counts how many of the map's first entries are plausible in this layout; 0: at least one is
 * not. */
static unsigned fitting(const uint8_t *raw, size_t length, const struct v1_shape *shape,
                        int32_t count)
{
    unsigned fit = 0;
    size_t entry_bytes = kdebug_thread_bytes(shape->narrow), tid_bytes = shape->narrow ? 4 : 8;
    for (int32_t i = 0; i < count && i < PROBED; i++) {
        size_t at = shape->head_bytes + (size_t)i * entry_bytes;
        if (at + entry_bytes > length)
            break;
        uint64_t tid = 0;
        int32_t pid;
        memcpy(&tid, raw + at, tid_bytes);
        memcpy(&pid, raw + at + tid_bytes, sizeof(pid));
        const uint8_t *name = raw + at + tid_bytes + sizeof(pid);
        if (pid < 0 || pid > 9999999 || !is_name(name) || tid >> 48)
            return 0;
        fit += pid > 0 && name[0] && tid;
    }
    return fit;
}

static struct argus_error *find_shape(struct kdebug_file *file, const struct v1_head *head,
                                      struct v1_shape *ret)
{
    uint8_t raw[24 + PROBED * 32];
    uint64_t file_bytes = file->trace->file_bytes;
    size_t length = file_bytes < sizeof(raw) ? (size_t)file_bytes : sizeof(raw);
    struct argus_error *error = kdebug_get(file, raw, length, 0);
    unsigned best = 0;
    *ret = shapes[0];
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes) && !error; i++) {
        unsigned fit = fitting(raw, length, &shapes[i], head->thread_count);
        if (fit > best) {
            best = fit;
            *ret = shapes[i];
        }
    }
    return error;
}

/* V1+: a map of CPUs in the rest of the page. */
static struct argus_error *read_cpus(struct kdebug_file *file, uint64_t offset_bytes)
{
    struct v1_cpu_map map;
    if (offset_bytes % PAGE > PAGE - sizeof(map) ||
        offset_bytes + sizeof(map) > file->trace->file_bytes)
        return NULL;
    struct argus_error *error = kdebug_get(file, &map, sizeof(map), offset_bytes);
    if (error || map.magic != 0x55aa0101)
        return error;
    uint64_t room = PAGE - offset_bytes % PAGE - sizeof(map);
    if (!map.cpu_count || map.cpu_count > MOST_CPUS)
        return kdebug_bad(file, offset_bytes, "the map of cpus claims %u cpus", map.cpu_count);
    if (map.cpu_count > room / CPU_ENTRY_BYTES)
        return kdebug_bad(file, offset_bytes,
                          "the map of %u cpus reaches into the page of the records", map.cpu_count);
    file->trace->header.cpu_count = map.cpu_count;
    return NULL;
}

struct argus_error *kdebug_v1_read(struct kdebug_file *file)
{
    struct v1_head head;
    struct v1_shape shape;
    if (file->trace->file_bytes < sizeof(head))
        return kdebug_bad(file, 0, "the file is cut off inside its head of %zu bytes",
                          sizeof(head));
    struct argus_error *error = kdebug_get(file, &head, sizeof(head), 0);
    if (!error && head.thread_count < 0)
        error = kdebug_bad(file, 4, "the map of threads claims %d entries", head.thread_count);
    if (!error)
        error = find_shape(file, &head, &shape);
    if (error)
        return error;
    file->narrow = shape.narrow;
    file->has_wall = head.seconds && head.seconds < 1ull << 33 && head.microseconds < 1000000;
    if (file->has_wall)
        file->wall_ns = head.seconds * 1000000000 + head.microseconds * 1000ull;
    uint64_t count = (uint64_t)head.thread_count;
    uint64_t map_end = shape.head_bytes + count * kdebug_thread_bytes(shape.narrow);
    error = kdebug_threads_read(file, shape.head_bytes, count);
    if (!error)
        error = read_cpus(file, map_end);
    uint64_t first = (map_end + PAGE - 1) / PAGE * PAGE;
    if (error || first >= file->trace->file_bytes)
        return error;
    return kdebug_add_span(file, first, file->trace->file_bytes - first);
}
