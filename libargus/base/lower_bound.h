/* Binary search in a sorted array of any type. */
#ifndef ARGUS_BASE_LOWER_BOUND_H
#define ARGUS_BASE_LOWER_BOUND_H

#include <stddef.h>

/* Sets `at` to the first of the indices 0 … count - 1 for which `is_before` is false, or to `count`
 * if there is none. `is_before` is an expression with `at`. It must be true for all indices before
 * that one and false from there on:
 *
 *   size_t first;
 *   LOWER_BOUND(first, count, events[first].time_ns < begin_ns);
 */
#define LOWER_BOUND(at, count, is_before)                                                          \
    do {                                                                                           \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            (at) = low_ + (high_ - low_) / 2;                                                      \
            if (is_before)                                                                         \
                low_ = (at) + 1;                                                                   \
            else                                                                                   \
                high_ = (at);                                                                      \
        }                                                                                          \
        (at) = low_;                                                                               \
    } while (0)

#endif
