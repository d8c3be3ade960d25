#include "plugin/time_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/units.h"

#define SECOND_NS 1000000000ll
#define MINUTE_S  60
#define DAY_S     86400

/* A time of day as written by the user. */
struct written {
    struct tm tm; /* the date is valid only with has_date */
    int64_t fraction_ns;
    long offset_s; /* from UTC; valid only with has_zone */
    bool has_date, has_zone;
    int64_t width_ns; /* of the last digit: 14:32 means that whole minute */
};

static const char *take_date(const char *text, struct written *ret)
{
    int year, month, day, used = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%n", &year, &month, &day, &used) != 3 || !used)
        return text;
    ret->tm.tm_year = year - 1900;
    ret->tm.tm_mon = month - 1;
    ret->tm.tm_mday = day;
    ret->has_date = true;
    return text + used;
}

/* The time that the last of so many decimals stands for. Times are printed cut off, so the moment
 * that was printed as 10.523 is in this millisecond. */
static int64_t decimals_width_ns(size_t count)
{
    int64_t width_ns = SECOND_NS;
    while (count-- > 0 && width_ns > 1)
        width_ns /= 10;
    return width_ns;
}

/* "10.5", after the colon. Returns the text after it; NULL: there are no seconds. */
static const char *take_seconds(const char *seconds, struct written *ret)
{
    size_t length = strspn(seconds, "0123456789.");
    char *end;
    double value = strtod(seconds, &end);
    if (!length || end != seconds + length || !(value < 60))
        return NULL;
    ret->tm.tm_sec = (int)value;
    ret->fraction_ns = llround((value - ret->tm.tm_sec) * SECOND_NS);
    const char *point = memchr(seconds, '.', length);
    ret->width_ns = decimals_width_ns(point ? (size_t)(end - point - 1) : 0);
    return end;
}

/* Returns the text after the time of day; NULL: `text` does not begin with one. */
static const char *take_clock(const char *text, struct written *ret)
{
    int used = 0;
    if (sscanf(text, "%2d:%2d%n", &ret->tm.tm_hour, &ret->tm.tm_min, &used) != 2 || !used ||
        ret->tm.tm_hour > 23 || ret->tm.tm_min > 59)
        return NULL;
    if (strspn(text, "0123456789:") < (size_t)used) /* sscanf() also takes blanks and signs */
        return NULL;
    if (text[used] == ':')
        return take_seconds(text + used + 1, ret);
    ret->width_ns = MINUTE_S * SECOND_NS;
    return text + used;
}

static bool take_zone(const char *text, struct written *ret)
{
    char sign[2];
    int hours, minutes, used = 0;
    text += *text == ' ';
    ret->has_zone = *text != '\0';
    if (!*text || strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0)
        return true;
    if (sscanf(text, "%1[+-]%2d%*1[:]%2d%n", sign, &hours, &minutes, &used) != 3 &&
        sscanf(text, "%1[+-]%2d%2d%n", sign, &hours, &minutes, &used) != 3)
        return false;
    ret->offset_s = (sign[0] == '-' ? -1 : 1) * (hours * 3600l + minutes * 60l);
    return !text[used];
}

static bool parse(const char *text, struct written *ret)
{
    *ret = (struct written){.tm.tm_isdst = -1};
    const char *rest = take_clock(take_date(text, ret), ret);
    return rest && take_zone(rest, ret);
}

/* Seconds since 1970. Without a date, the day of `start_s` is meant. */
static int64_t wall_seconds(const struct written *written, int64_t start_s)
{
    struct tm tm = written->tm, day;
    time_t start = (time_t)(start_s + (written->has_zone ? written->offset_s : 0));
    if (!written->has_date &&
        (written->has_zone ? gmtime_r(&start, &day) : localtime_r(&start, &day))) {
        tm.tm_year = day.tm_year;
        tm.tm_mon = day.tm_mon;
        tm.tm_mday = day.tm_mday;
    }
    return written->has_zone ? (int64_t)timegm(&tm) - written->offset_s : (int64_t)mktime(&tm);
}

static uint64_t after_start(uint64_t start_ns, int64_t distance_ns)
{
    return distance_ns > 0 ? start_ns + (uint64_t)distance_ns : start_ns;
}

struct argus_error *time_point_range(const struct argus_trace *trace, const char *text,
                                     uint64_t *ret_from_ns, uint64_t *ret_until_ns)
{
    uint64_t start_ns, end_ns, value_ns;
    struct written written;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    if (text[0] == '+' && units_parse(text + 1, units_duration, &value_ns)) {
        *ret_from_ns = *ret_until_ns = start_ns + value_ns;
        return NULL;
    }
    if (!parse(text, &written))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "'%s' is not a time such as 14:32, 14:32:10.5, '2026-11-23 14:32:10' or +1.5s", text);
    int64_t start_wall_ns = (int64_t)argus_trace_ns_to_wall_ns(trace, start_ns);
    int64_t from_ns = wall_seconds(&written, start_wall_ns / SECOND_NS) * SECOND_NS +
                      written.fraction_ns - start_wall_ns;
    int64_t until_ns = from_ns + written.width_ns - 1;
    bool next_day = until_ns < 0 && !written.has_date;
    if (next_day) {
        from_ns += DAY_S * SECOND_NS;
        until_ns += DAY_S * SECOND_NS;
    }
    *ret_from_ns = after_start(start_ns, from_ns);
    *ret_until_ns = after_start(start_ns, until_ns);
    if (until_ns < 0 || (next_day && *ret_from_ns > end_ns))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s is outside the trace", text);
    return NULL;
}
