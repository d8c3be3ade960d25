/* Options with a unit: numbers, sizes, durations. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/arguments.h"
#include "plugin/units.h"

const struct unit units_none[] = {{"", 1}, {NULL, 0}};
const struct unit units_size[] = {
    {"", 1}, {"K", 1024.0}, {"M", 1048576.0}, {"G", 1073741824.0}, {NULL, 0},
};
const struct unit units_duration[] = {
    {"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {NULL, 0},
};

bool units_parse(const char *text, const struct unit *units, uint64_t *ret)
{
    char *end_whole, *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    uint64_t whole = strtoull(text, &end_whole, 10);
    bool whole_fits = errno == 0;
    double value = strtod(text, &end);
    const char *suffix = end + (end[0] == ' ' && end[1]); /* answers print "2.5 s" */
    for (; units->suffix; units++)
        if (!strcasecmp(suffix, units->suffix))
            break;
    if (!units->suffix || end < end_whole)
        return false;
    if (end == end_whole && units->factor == 1) {
        *ret = whole;
        return whole_fits;
    }
    double scaled = value * units->factor;
    if (!(scaled < 0x1p63) || (scaled != floor(scaled) && units->factor == 1))
        return false;
    *ret = (uint64_t)scaled;
    return true;
}

static struct argus_error *option(const struct arguments *arguments, const char *name,
                                  const struct unit *units, const char *wanted, uint64_t *ret)
{
    const char *text = arguments_option(arguments, name);
    if (!text || units_parse(text, units, ret))
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE, "--%s: '%s' is not %s", name, text, wanted);
}

struct argus_error *arguments_number(const struct arguments *arguments, const char *name,
                                     uint64_t *ret)
{
    return option(arguments, name, units_none, "a number", ret);
}

struct argus_error *arguments_size_bytes(const struct arguments *arguments, const char *name,
                                         uint64_t *ret)
{
    return option(arguments, name, units_size, "a size such as 512M or 2G", ret);
}

struct argus_error *arguments_duration_ns(const struct arguments *arguments, const char *name,
                                          uint64_t *ret)
{
    return option(arguments, name, units_duration, "a duration such as 2s or 150ms", ret);
}
