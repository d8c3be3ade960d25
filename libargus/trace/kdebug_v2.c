/* V2: what Instruments and kperf write, also as the stream of an iOS device
 * (coreprofilesessiontap).
 *
 *     0x00  u32 magic      0x04  u32 thread_count      0x08  u64 seconds, u32 microseconds (often 0)
 *     0x14  u32 is_64bit   0x18  u64 ticks in a second
 *     0x120 kd_threadmap[thread_count], then, from the next multiple of 4096 on, records to the end
 *
 * None of Apple's sources describes it ("only used by kperf and Instruments", xnu-4570
 * bsd/sys/kdebug.h); the layout was found from real files. There the first records (PERF_Event and
 * 0x25990000) have later times than the following ones.
 */
#include <inttypes.h>
#include <stddef.h>

#include "trace/kdebug.h"

struct v2_head {
    uint32_t magic, thread_count;
    uint64_t seconds; /* wall time of the beginning, since 1970; or 0 */
    uint32_t microseconds;
    uint32_t is_64bit;
    uint64_t ticks_per_second;
} __attribute__((packed));

enum { MAP_AT = 0x120, PAGE = 4096 };

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Length of a tick in ns, as a fraction: 24 MHz is 125/3. */
static struct argus_error *set_clock(struct kdebug_file *file, uint64_t ticks_per_second)
{
    const uint64_t second_ns = 1000000000;
    if (!ticks_per_second)
        return NULL; /* the timebase is then guessed, and a note says so */
    uint64_t divisor = greatest_divisor(second_ns, ticks_per_second);
    if (!kdebug_set_timebase(file, second_ns / divisor, ticks_per_second / divisor))
        return kdebug_bad(file, offsetof(struct v2_head, ticks_per_second),
                          "%" PRIu64 " ticks in a second are not possible", ticks_per_second);
    return NULL;
}

struct argus_error *kdebug_v2_read(struct kdebug_file *file)
{
    struct v2_head head;
    if (file->trace->file_bytes < MAP_AT)
        return kdebug_bad(file, 0, "the file is cut off inside its head of %d bytes", MAP_AT);
    struct argus_error *error = kdebug_get(file, &head, sizeof(head), 0);
    if (!error && head.is_64bit > 1)
        error = kdebug_bad(file, offsetof(struct v2_head, is_64bit),
                           "the width of the records is %u, but must be 0 (32 bits) or 1 (64 bits)",
                           head.is_64bit);
    if (!error)
        error = set_clock(file, head.ticks_per_second);
    if (error)
        return error;
    file->narrow = !head.is_64bit;
    file->has_wall = head.seconds && head.seconds < 1ull << 33 && head.microseconds < 1000000;
    if (file->has_wall)
        file->wall_ns = head.seconds * 1000000000 + head.microseconds * 1000ull;
    uint64_t map_end = MAP_AT + (uint64_t)head.thread_count * kdebug_thread_bytes(file->narrow);
    error = kdebug_threads_read(file, MAP_AT, head.thread_count);
    uint64_t first = (map_end + PAGE - 1) / PAGE * PAGE;
    if (error || first >= file->trace->file_bytes)
        return error;
    return kdebug_add_span(file, first, file->trace->file_bytes - first);
}
