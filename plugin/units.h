/* Parses numbers with a unit, as people type them. */
#ifndef ARGUS_PLUGIN_UNITS_H
#define ARGUS_PLUGIN_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct unit {
    const char *suffix;
    double factor;
};

extern const struct unit units_none[];
extern const struct unit units_size[];     /* bytes: K, M, G are powers of 1024 */
extern const struct unit units_duration[]; /* ns; a bare number is seconds */

/* Whole numbers are exact up to 2^64 - 1; fractions are computed as double. False if `text` is no
 * such number. */
bool units_parse(const char *text, const struct unit *units, uint64_t *ret);

#endif
