#include "plugin/time_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/units.h"

#define SECOND_NS 1000000000ull
#define DAY_NS    (86400 * SECOND_NS)

/* ns since midnight; false if `text` is no time of day. */
static bool parse_time_of_day(const char *text, uint64_t *ret)
{
    unsigned hours, minutes;
    int used = 0;
    if (sscanf(text, "%2u:%2u:%n", &hours, &minutes, &used) != 2 || !used || hours > 23 ||
        minutes > 59)
        return false;
    const char *digits = text + used;
    size_t length = strlen(digits);
    if (!length || strspn(digits, "0123456789.") != length)
        return false;
    char *end;
    double seconds = strtod(digits, &end);
    if (*end || !(seconds < 60))
        return false;
    *ret = (hours * 60ull + minutes) * 60 * SECOND_NS + (uint64_t)llround(seconds * 1e9);
    return true;
}

struct argus_error *time_point_parse(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret)
{
    uint64_t start_ns, end_ns, value_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    if (text[0] == '+' && units_parse(text + 1, units_duration, &value_ns)) {
        *ret = start_ns + value_ns;
        return NULL;
    }
    if (!parse_time_of_day(text, &value_ns))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "'%s' is no time such as 14:32:10.5 (UTC) or +1.5s", text);
    uint64_t start_of_day_ns = argus_trace_ns_to_wall_ns(trace, start_ns) % DAY_NS;
    *ret = start_ns + (value_ns + DAY_NS - start_of_day_ns) % DAY_NS;
    if (value_ns<start_of_day_ns && * ret> end_ns)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s is outside the trace", text);
    return NULL;
}
