/* Times at their limits, losses, and records without any sense. */
#include <string.h>

#include "event/tracepoints.h"
#include "hostile.h"

/* A chunk for each loss, among few records. */
void shape_losses(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        struct argus_record record = {.timestamp = i * 1000,
                                      .tid = 10 + i % 900,
                                      .debugid = ARGUS_ID_SWITCH,
                                      .cpu = i % HOSTILE_CPUS,
                                      .arg = {1, 10 + (i + 1) % 900}};
        hostile_check(
            argus_writer_records(hostile->writer, record.cpu, &record, i % 2, UINT64_MAX / 1000));
    }
}

void shape_suspended(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        PUT(0, 0, ARGUS_ID_SUSPENDED, UINT64_MAX / 2, i);
        PUT(0, 0, ARGUS_ID_CLOCK_STEP, (uint64_t)INT64_MIN, i * 2);
        PUT(0, 10 + i % 2, ARGUS_ID_SWITCH, i % 2, 10 + (i + 1) % 2);
    }
}

void shape_times_extreme(struct hostile *hostile)
{
    static const uint64_t times[] = {0,         1,          UINT64_MAX / 2, (uint64_t)INT64_MIN,
                                     INT64_MAX, UINT64_MAX, UINT64_MAX - 1, 1ull << 62};
    for (uint64_t i = 0; hostile_room(hostile) && i < 200000; i++) {
        uint64_t tid = 10 + i / 8 % 6;
        hostile->step = 0;
        hostile->now = times[(i + i / 64) % 8];
        uint64_t odd = times[hostile_random(hostile) % 8];
        switch (i % 8) {
        case 0:
            PUT(0, tid, ARGUS_ID_SYSCALL(i / 8 % 300) | ARGUS_FUNC_START, odd, odd, odd);
            break;
        case 1:
            PUT(0, tid, ARGUS_ID_SWITCH, 1, 0, odd);
            break;
        case 2:
            PUT(0, 11, ARGUS_ID_MAKE_RUNNABLE, tid, odd);
            break;
        case 3:
            PUT(0, 0, ARGUS_ID_SWITCH, 0, tid, odd);
            break;
        case 4:
            PUT(0, tid, ARGUS_ID_SYSCALL(i / 8 % 300) | ARGUS_FUNC_END, odd, odd);
            break;
        case 5:
            PUT(0, tid, ARGUS_ID_MEMORY_STALL, odd, odd, odd, odd);
            break;
        case 6:
            PUT(0, tid, ARGUS_ID_TIMER_ARMED, odd, odd, odd, 1);
            break;
        default:
            PUT(0, tid, ARGUS_ID_ITIMER_ARMED, 0, odd, odd);
            break;
        }
    }
}

static uint32_t random_debugid(struct hostile *hostile)
{
    static const uint16_t calls[] = {0, 1, 7, 35, 61, 202, 230, 232};
    const struct tracepoint *row = &tracepoints[hostile_random(hostile) % TRACEPOINT_COUNT];
    uint32_t func = row->paired ? 1 + (uint32_t)(hostile_random(hostile) & 1) : 0;
    if (tracepoint_is_syscall(row->debugid))
        return ARGUS_ID_SYSCALL(calls[hostile_random(hostile) % 8]) | func;
    return row->debugid | func;
}

static void add_random(struct hostile *hostile, uint32_t debugid, uint64_t threads, uint64_t values)
{
    uint64_t arg[4];
    for (int i = 0; i < 4; i++)
        arg[i] = hostile_random(hostile) % values;
    if (debugid == ARGUS_ID_MESSAGE)
        arg[1] =
            ARGUS_MESSAGE_WHAT(arg[1], hostile_random(hostile) % 13, hostile_random(hostile) & 255);
    hostile_put(hostile, (uint32_t)hostile_random(hostile) % 4, hostile_random(hostile) % threads,
                debugid, arg);
}

void shape_random_few(struct hostile *hostile)
{
    hostile_thread(hostile, 1, 1, "one");
    hostile_thread(hostile, 2, 1, "two");
    while (hostile_room(hostile))
        add_random(hostile, random_debugid(hostile), 6, 8);
}

/* The same, with hangs. */
void shape_random_slow(struct hostile *hostile)
{
    while (hostile_room(hostile)) {
        hostile->now += hostile_random(hostile) % 400 == 0 ? 3000000000 : 0;
        add_random(hostile, random_debugid(hostile), 40, 45);
    }
}

void shape_random_wild(struct hostile *hostile)
{
    while (hostile_room(hostile))
        add_random(hostile, random_debugid(hostile), 1u << 20, UINT64_MAX);
}

/* Records of macOS: the classes that its translation knows. */
void shape_darwin_random(struct hostile *hostile)
{
    static const uint32_t ids[] = {0x01400000, 0x01400008, 0x01400018, 0x0140000c, 0x01400010,
                                   0x01050000, 0x01200000, 0x01200018, 0x010c007c, 0x040c0004,
                                   0x040c0510, 0x07000004, 0x07010004, 0x07010008, 0x07020000,
                                   0x03010090, 0x1f050000, 0x1f070004, 0x25000000, 0x25010004,
                                   0x25020000, 0x01300004, 0x25060000, 0x2502000c, 0x25020010};
    while (hostile_room(hostile)) {
        uint32_t id = ids[hostile_random(hostile) % (sizeof(ids) / sizeof(*ids))];
        hostile->now += hostile_random(hostile) % 3000 == 0 ? 3000000000 : 0;
        add_random(hostile, id | (uint32_t)hostile_random(hostile) % 3, 30,
                   hostile_random(hostile) % 8 ? 40 : UINT64_MAX);
    }
}

/* Any code of the subclasses that have many. */
void shape_darwin_machs(struct hostile *hostile)
{
    static const uint32_t bases[] = {0x01200000, 0x010c0000, 0x01400000,
                                     0x02000000, 0x25000000, 0x01090000};
    while (hostile_room(hostile)) {
        uint32_t id = bases[hostile_random(hostile) % 6];
        id |= (uint32_t)(hostile_random(hostile) % 64) << 2;
        hostile->now += hostile_random(hostile) % 3000 == 0 ? 3000000000 : 0;
        add_random(hostile, id | (uint32_t)hostile_random(hostile) % 3, 12, 20);
    }
}
