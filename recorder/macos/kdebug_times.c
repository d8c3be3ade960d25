#include "macos/kdebug_times.h"

#include <stddef.h>

struct time_row {
    uint32_t debugid;  /* with function bits */
    uint8_t arguments; /* bit n - 1: argument n is a time */
};

/* Deadlines and the like. To add one: a row; bsd/sys/kdebug.h and xnu-patch/tracepoints.md say what
 * arguments are. */
static const struct time_row rows[] = {
    {0x01400040, 1 << 2},                   /* MACH_WAIT: deadline */
    {0x0109001d, 1 << 2},                   /* TIMER_ENTER, start: deadline */
    {0x0109001e, 1 << 2},                   /* … end */
    {0x01090021, 1 << 1 | 1 << 2},          /* TIMER_CANCEL, start: deadline, soft deadline */
    {0x01090028, 1 << 1 | 1 << 2 | 1 << 3}, /* TIMER_EXPIRE: soft deadline, deadline, entry */
    {0x01090051, 1 << 0},                   /* EXPIRE_LOCAL: deadline */
    {0x60110004, 1 << 2},                   /* wait_begun: deadline */
    {0x60140004, 1 << 2},                   /* call_queued */
    {0x60140010, 1 << 2},                   /* mk_timer_armed */
    {0x60140018, 1 << 2},                   /* mk_timer_cancelled */
    {0x6014001c, 1 << 2},                   /* kevent_timer_armed */
};

uint64_t kdebug_ticks_to_ns(uint64_t ticks, uint32_t numer, uint32_t denom)
{
    uint64_t whole = ticks / denom, rest = ticks % denom, ns;
    if (ticks == UINT64_MAX || __builtin_mul_overflow(whole, (uint64_t)numer, &ns))
        return UINT64_MAX;
    return ns + rest * numer / denom;
}

void kdebug_times_to_ns(struct argus_record *record, uint32_t numer, uint32_t denom)
{
    if (numer == denom)
        return;
    record->timestamp = kdebug_ticks_to_ns(record->timestamp, numer, denom);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].debugid != record->debugid)
            continue;
        for (int argument = 0; argument < 4; argument++)
            if (rows[i].arguments & 1 << argument)
                record->arg[argument] = kdebug_ticks_to_ns(record->arg[argument], numer, denom);
    }
}
