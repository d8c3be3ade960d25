#include "plugin/nearest.h"

#include <stdint.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 40 };

/* Levenshtein's distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_LENGTH + 1], length = strlen(b);
    if (length > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[length];
}

void nearest_init(struct nearest *nearest, const char *given)
{
    *nearest = (struct nearest){.given = given, .distance = SIZE_MAX};
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    size_t length = strlen(nearest->given);
    size_t distance = edit_distance(nearest->given, name);
    if (length && !strncmp(nearest->given, name, length))
        distance = 0;
    if (distance > (strlen(name) + 2) / 3 || distance >= nearest->distance)
        return;
    nearest->best = name;
    nearest->distance = distance;
}
