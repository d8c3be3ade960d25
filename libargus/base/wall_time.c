#include "base/wall_time.h"

#include <stdio.h>
#include <time.h>

#define SECOND_NS 1000000000u

static struct tm local_time(uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / SECOND_NS);
    struct tm local = {0};
    localtime_r(&seconds, &local);
    return local;
}

/* The fraction of the second: ".523". */
static const char *fraction_text(uint64_t wall_ns, int digits, char *buffer, size_t bytes)
{
    char all[16];
    snprintf(all, sizeof(all), ".%09u", (unsigned)(wall_ns % SECOND_NS));
    snprintf(buffer, bytes, "%.*s", digits ? digits + 1 : 0, all);
    return buffer;
}

const char *wall_clock_text(uint64_t wall_ns, int digits, char *buffer, size_t bytes)
{
    char clock[16] = "", fraction[16];
    struct tm local = local_time(wall_ns);
    strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    snprintf(buffer, bytes, "%s%s", clock,
             fraction_text(wall_ns, digits, fraction, sizeof(fraction)));
    return buffer;
}

const char *wall_moment_text(uint64_t wall_ns, char *buffer, size_t bytes)
{
    char date[16] = "", zone[8] = "", clock[WALL_TIME_BYTES];
    struct tm local = local_time(wall_ns);
    strftime(date, sizeof(date), "%F", &local);
    strftime(zone, sizeof(zone), "%z", &local);
    snprintf(buffer, bytes, "%s %s %s", date, wall_clock_text(wall_ns, 3, clock, sizeof(clock)),
             zone);
    return buffer;
}

const char *wall_utc_text(uint64_t wall_ns, char *buffer, size_t bytes)
{
    char clock[32] = "", fraction[16];
    time_t seconds = (time_t)(wall_ns / SECOND_NS);
    struct tm utc = {0};
    gmtime_r(&seconds, &utc);
    strftime(clock, sizeof(clock), "%FT%T", &utc);
    snprintf(buffer, bytes, "%s%sZ", clock, fraction_text(wall_ns, 6, fraction, sizeof(fraction)));
    return buffer;
}
