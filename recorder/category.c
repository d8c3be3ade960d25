#include "category.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "argus/record.h"

struct category_row {
    const char *name, *lost_without;
};

static const struct category_row rows[CATEGORY_COUNT] = {
    [CATEGORY_SCHED] = {"sched", "nothing can be known"},
    [CATEGORY_SYSCALLS] = {"syscalls", "waits have no object, and there are no messages"},
    [CATEGORY_MESSAGES] = {"messages", "no message edges, and waits do not name their peer"},
    [CATEGORY_TIMERS] = {"timers",
                         "no timer edges, and wake-ups do not say from which context they came"},
    [CATEGORY_INTERRUPTS] = {"interrupts", "interrupts count as time of the thread they interrupt"},
    [CATEGORY_WORK] = {"work", "kernel work queues have no edges"},
    [CATEGORY_BLOCK] = {"block", "waits for a disk do not name it"},
    [CATEGORY_SIGNALS] = {"signals", "no signal edges"},
    [CATEGORY_STACKS] = {"stacks", "waits and wake-ups have no call stack"},
    [CATEGORY_PROBES] = {"probes", "no callbacks and no user input"},
};

const char *category_name(enum category category)
{
    return rows[category].name;
}

const char *category_lost_without(enum category category)
{
    return rows[category].lost_without;
}

/* Debugids from `first` to `last` (without their function bits) belong to `category`; the first row
 * that fits counts. To add a tracepoint of another category: a row. */
struct id_row {
    uint32_t first, last;
    enum category category;
};

static const struct id_row id_rows[] = {
    {ARGUS_ID_SYSCALL(0), ARGUS_ID_SYSCALL(0x3fff), CATEGORY_SYSCALLS},
    {ARGUS_ID_SYSCALL_MORE, ARGUS_ID_LOCK, CATEGORY_SYSCALLS},
    {ARGUS_ID_STACK, ARGUS_ID_SAMPLE, CATEGORY_STACKS},
    {ARGUS_ID_INTERRUPT, ARGUS_ID_INTERRUPT, CATEGORY_INTERRUPTS},
    {ARGUS_ID_SOFTIRQ, ARGUS_ID_SOFTIRQ, CATEGORY_INTERRUPTS},
    {ARGUS_DEBUGID(1, 9, 0), ARGUS_DEBUGID(1, 9, 0x3fff), CATEGORY_TIMERS},
    {ARGUS_ID_WORK, ARGUS_ID_WORK_QUEUED, CATEGORY_WORK},
    {ARGUS_ID_BLOCK_ISSUED, ARGUS_ID_BLOCK_COMPLETED, CATEGORY_BLOCK},
    {ARGUS_ID_BLOCK_FILE, ARGUS_ID_BLOCK_FILE, CATEGORY_BLOCK},
    {ARGUS_ID_ITIMER_ARMED, ARGUS_ID_ITIMER_FIRED, CATEGORY_TIMERS},
    {ARGUS_DEBUGID(ARGUS_CLASS, 2, 4), ARGUS_DEBUGID(ARGUS_CLASS, 2, 4), CATEGORY_MESSAGES},
    {ARGUS_ID_SIGNAL_SENT, ARGUS_ID_SIGNAL_DELIVERED, CATEGORY_SIGNALS},
    {ARGUS_DEBUGID(ARGUS_CLASS, 2, 7), ARGUS_DEBUGID(ARGUS_CLASS, 2, 0x3fff), CATEGORY_SYSCALLS},
    {ARGUS_DEBUGID(ARGUS_CLASS, 3, 0), ARGUS_DEBUGID(ARGUS_CLASS, 3, 0x3fff), CATEGORY_PROBES},
};

enum category category_of_record(uint32_t debugid)
{
    uint32_t id = ARGUS_DEBUGID_EVENT(debugid);
    for (size_t i = 0; i < sizeof(id_rows) / sizeof(id_rows[0]); i++) {
        if (id >= id_rows[i].first && id <= id_rows[i].last)
            return id_rows[i].category;
    }
    return CATEGORY_SCHED;
}

static struct argus_error *unknown_name(const char *name, size_t length)
{
    char known[256];
    size_t at = 0;
    for (size_t i = 0; i < CATEGORY_COUNT && at < sizeof(known); i++)
        at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", rows[i].name);
    return argus_error_create(ARGUS_ERROR_USAGE, "there is no category \"%.*s\": choose from %s",
                              (int)length, name, known);
}

struct argus_error *categories_parse(const char *text, uint32_t *ret_bits)
{
    uint32_t bits = 0;
    while (true) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < CATEGORY_COUNT &&
               (strlen(rows[i].name) != length || memcmp(rows[i].name, text, length) != 0))
            i++;
        if (i == CATEGORY_COUNT)
            return unknown_name(text, length);
        bits |= CATEGORY_BIT(i);
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_bits = bits;
    return NULL;
}
