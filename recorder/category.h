/* Categories of records: each can be switched on or off (--without, --only). */
#ifndef ARGUS_RECORDER_CATEGORY_H
#define ARGUS_RECORDER_CATEGORY_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

/* Numbers that travel in requests: never reorder. To add one: a number here, a row in category.c.
 */
enum category {
    CATEGORY_SCHED = 0, /* switches, wake-ups, life and names of threads: always on */
    CATEGORY_SYSCALLS = 1,
    CATEGORY_MESSAGES = 2,
    CATEGORY_TIMERS = 3,
    CATEGORY_INTERRUPTS = 4,
    CATEGORY_WORK = 5,
    CATEGORY_BLOCK = 6,
    CATEGORY_SIGNALS = 7,
    CATEGORY_STACKS = 8,
    CATEGORY_PROBES = 9,
    CATEGORY_COUNT = 10,
};

#define CATEGORY_BIT(category) (1u << (category))
#define CATEGORIES_ALL         (CATEGORY_BIT(CATEGORY_COUNT) - 1)

const char *category_name(enum category category);
/* What the graph cannot show without this category. Completes the sentence "recorded without …:
 * ". */
const char *category_lost_without(enum category category);

/* The category of a record; CATEGORY_SCHED for an unknown debugid. */
enum category category_of_record(uint32_t debugid);

/* Reads names separated by commas into a set of bits. An unknown name is an error that lists the
 * known ones. */
struct argus_error *categories_parse(const char *text, uint32_t *ret_bits);

#endif
