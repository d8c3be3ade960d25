/* The overlap of two periods of time. */
#ifndef ARGUS_BASE_OVERLAP_H
#define ARGUS_BASE_OVERLAP_H

#include <stdint.h>

/* Overlap of the periods from `a_start_ns` to `a_end_ns` and from `b_start_ns` to `b_end_ns`; 0 if
 * there is none. */
static inline uint64_t overlap_ns(uint64_t a_start_ns, uint64_t a_end_ns, uint64_t b_start_ns,
                                  uint64_t b_end_ns)
{
    uint64_t from_ns = a_start_ns > b_start_ns ? a_start_ns : b_start_ns;
    uint64_t to_ns = a_end_ns < b_end_ns ? a_end_ns : b_end_ns;
    return from_ns < to_ns ? to_ns - from_ns : 0;
}

#endif
