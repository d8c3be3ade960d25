#include "event/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/compat.h"

/* How many moves by one place the insertion sort may make before it is given up: four per record on
 * average. */
enum { MOVES_FOR_A_RECORD = 4, MOVES_AT_LEAST = 4096 };

/* False if it took too many moves. The record that was being moved then stops before its place; it
 * never passes one with the same time, so a later merge sort still keeps ties in order. */
static bool insert_all(struct argus_record *records, size_t count)
{
    size_t moves_left = count * MOVES_FOR_A_RECORD + MOVES_AT_LEAST;
    for (size_t i = 1; i < count; i++) {
        if (records[i - 1].timestamp <= records[i].timestamp)
            continue;
        struct argus_record moving = records[i];
        size_t at = i;
        while (at > 0 && records[at - 1].timestamp > moving.timestamp && moves_left) {
            records[at] = records[at - 1];
            at--;
            moves_left--;
        }
        records[at] = moving;
        if (!moves_left)
            return false;
    }
    return true;
}

static void merge_runs(const struct argus_record *from, size_t left, size_t middle, size_t right,
                       struct argus_record *to)
{
    size_t a = left, b = middle;
    for (size_t i = left; i < right; i++) {
        bool take_left = a < middle && (b >= right || from[a].timestamp <= from[b].timestamp);
        to[i] = take_left ? from[a++] : from[b++];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool sort_by_merging(struct argus_record *records, size_t count)
{
    struct argus_record *other = reallocarray(NULL, count, sizeof(*other));
    if (!other)
        return false;
    struct argus_record *from = records, *to = other;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width)
            merge_runs(from, left, least(left + width, count), least(left + 2 * width, count), to);
        struct argus_record *swap = from;
        from = to;
        to = swap;
    }
    if (from != records)
        memcpy(records, from, count * sizeof(*records));
    free(other);
    return true;
}

bool order_records(struct argus_record *records, size_t count)
{
    return insert_all(records, count) || sort_by_merging(records, count);
}
