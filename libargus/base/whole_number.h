/* Floating point to integers: C leaves a conversion undefined if the value does not fit. */
#ifndef ARGUS_BASE_WHOLE_NUMBER_H
#define ARGUS_BASE_WHOLE_NUMBER_H

#include <stdint.h>

/* `value` without its fraction; 0 for negative numbers and NaN, UINT64_MAX for what is too large.
 */
static inline uint64_t whole_number(double value)
{
    if (!(value > 0))
        return 0;
    return value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
}

#endif
