#include "plugin/nearest.h"

#include <stdint.h>
#include <string.h>

#include "base/edit_distance.h"

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
