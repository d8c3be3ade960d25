#include "base/edit_distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* One row at a time: row[k] is the distance between the part of `a` read so far and the first k
 * characters of `b`. */
unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[EDIT_DISTANCE_MOST + 1];
    size_t columns = strnlen(b, EDIT_DISTANCE_MOST), rows = strnlen(a, EDIT_DISTANCE_MOST);
    for (size_t k = 0; k <= columns; k++)
        row[k] = (unsigned)k;
    for (size_t i = 0; i < rows; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t k = 0; k < columns; k++) {
            bool differs = tolower((unsigned char)a[i]) != tolower((unsigned char)b[k]);
            unsigned changed = corner + differs;
            corner = row[k + 1];
            row[k + 1] = least(changed, least(row[k], row[k + 1]) + 1);
        }
    }
    return row[columns];
}
