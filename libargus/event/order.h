/* Stable sorting of records by time, optimized for arrays that are nearly sorted. */
#ifndef ARGUS_EVENT_ORDER_H
#define ARGUS_EVENT_ORDER_H

#include "argus/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Sorts records[0 … count). Linear if no record is more than a few places out of order, otherwise
 * O(n log n). False without memory. */
bool order_records(struct argus_record *records, size_t count);

#endif
