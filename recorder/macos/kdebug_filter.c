#include "macos/kdebug_filter.h"

#include <stdbool.h>
#include <string.h>

#include "category.h"

#define WHOLE_CLASS -1

struct filter_row {
    enum category category;
    uint8_t class_;
    int16_t subclass;
};

/* To record more: a row. Classes and subclasses are those of bsd/sys/kdebug.h, and of
 * xnu-patch/tracepoints.md (0x60). */
static const struct filter_row rows[] = {
    {CATEGORY_SCHED, 0x01, 0x40},        /* context switches, wake-ups, waits */
    {CATEGORY_SCHED, 0x04, 0x01},        /* life of processes */
    {CATEGORY_SCHED, 0x07, WHOLE_CLASS}, /* names, new threads, lost records */
    {CATEGORY_SCHED, 0x1f, 0x05},        /* images that dyld loads */
    {CATEGORY_SCHED, 0x35, WHOLE_CLASS}, /* turnstiles: who waits for whom */
    {CATEGORY_SCHED, 0x60, 0x11},        /* patched kernel: waits and their ends */
    {CATEGORY_SCHED, 0x60, 0x16},        /* patched kernel: maintenance */
    {CATEGORY_SYSCALLS, 0x01, 0x0c},     /* Mach traps */
    {CATEGORY_SYSCALLS, 0x04, 0x0c},     /* BSD system calls */
    {CATEGORY_SYSCALLS, 0x04, 0x0e},     /* their further arguments */
    {CATEGORY_SYSCALLS, 0x04, 0x0f},
    {CATEGORY_SYSCALLS, 0x60, 0x12}, /* patched kernel: arguments 5 to 8 */
    {CATEGORY_SYSCALLS, 0x60, 0x13},
    {CATEGORY_SYSCALLS, 0x09, 0x03}, /* psynch: mutexes, conditions */
    {CATEGORY_SYSCALLS, 0x09, 0x04},
    {CATEGORY_SYSCALLS, 0x09, 0x05},
    {CATEGORY_SYSCALLS, 0x09, 0x06},
    {CATEGORY_MESSAGES, 0x01, 0x0c}, /* mach_msg is a trap */
    {CATEGORY_MESSAGES, 0x01, 0x20}, /* Mach messages, where the kernel has them */
    {CATEGORY_MESSAGES, 0x60, 0x10}, /* patched kernel: the same, with ports */
    {CATEGORY_MESSAGES, 0x60, 0x17}, /* patched kernel: for whom vouchers are */
    {CATEGORY_TIMERS, 0x01, 0x09},
    {CATEGORY_TIMERS, 0x60, 0x14},
    {CATEGORY_INTERRUPTS, 0x01, 0x05},
    {CATEGORY_INTERRUPTS, 0x60, 0x15},
    {CATEGORY_WORK, 0x09, 0x01}, /* work queues */
    {CATEGORY_WORK, 0x09, 0x02},
    {CATEGORY_WORK, 0x2e, 0x05}, /* libdispatch, its introspection build */
    {CATEGORY_BLOCK, 0x03, 0x01},
    {CATEGORY_BLOCK, 0x03, 0x02},
    {CATEGORY_STACKS, 0x25, WHOLE_CLASS}, /* kperf */
    {CATEGORY_PROBES, 0x60, 0x03},        /* dylib-hooks: callbacks and UI events */
    {CATEGORY_PROBES, 0x60, 0x05},        /* data flags */
    {CATEGORY_PROBES, 0x21, 0x0a},        /* signposts of applications */
};

static void set_bit(uint8_t *filter, unsigned class_, unsigned subclass)
{
    unsigned bit = class_ << 8 | subclass;
    filter[bit / 8] |= (uint8_t)(1u << (bit % 8));
}

void kdebug_filter_fill(uint32_t categories, uint8_t ret[KDEBUG_FILTER_BYTES])
{
    memset(ret, 0, KDEBUG_FILTER_BYTES);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!(categories & CATEGORY_BIT(rows[i].category)))
            continue;
        bool whole = rows[i].subclass == WHOLE_CLASS;
        for (unsigned subclass = 0; subclass < 256 && whole; subclass++)
            set_bit(ret, rows[i].class_, subclass);
        if (!whole)
            set_bit(ret, rows[i].class_, (unsigned)rows[i].subclass);
    }
}
