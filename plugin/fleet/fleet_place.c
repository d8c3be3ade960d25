#include "plugin/fleet/fleet_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/json_output.h"
#include "plugin/paths.h"

#define SECOND_NS 1000000000ll

static char *usual_path(void)
{
    char *folder = paths_data_directory(), *path = NULL;
    if (folder && asprintf(&path, "%s/fleet.db", folder) < 0)
        path = NULL;
    if (folder)
        paths_make_directories(folder);
    free(folder);
    return path;
}

struct argus_error *fleet_place_open(const struct arguments *arguments, bool create,
                                     struct fleet_database **ret)
{
    const char *named = arguments_option(arguments, "database");
    char *path = named ? paths_expand_home(named) : usual_path();
    struct argus_error *error =
        path ? fleet_database_open(path, create, ret)
             : argus_error_create(ARGUS_ERROR_USAGE,
                                  "you have no home folder: name the database, --database=FILE");
    free(path);
    return error;
}

/* "2026-11-01", "7d", "12h". */
static bool parse_since(const char *text, int64_t *ret_ns)
{
    struct tm day = {0};
    char *end;
    double count = strtod(text, &end);
    int64_t unit_s = *end == 'd' ? 86400 : *end == 'h' ? 3600 : 0;
    if (end > text && unit_s && !end[1] && count >= 0 && count < 1e6) {
        *ret_ns = ((int64_t)time(NULL) - (int64_t)(count * (double)unit_s)) * SECOND_NS;
        return true;
    }
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &used) != 3 ||
        text[used])
        return false;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    *ret_ns = (int64_t)timegm(&day) * SECOND_NS;
    return true;
}

static struct argus_error *get_since(const struct arguments *arguments, const char *option,
                                     int64_t *ret_ns)
{
    const char *text = arguments_option(arguments, option);
    if (!text || parse_since(text, ret_ns))
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_USAGE, "--%s takes a day, e.g. 2026-11-01, or how long ago: 7d, 12h", option);
}

struct argus_error *fleet_place_filter(const struct arguments *arguments, struct fleet_filter *ret)
{
    *ret = (struct fleet_filter){.program = arguments_option(arguments, "program"),
                                 .new_since_ns = ((int64_t)time(NULL) - 86400) * SECOND_NS};
    struct argus_error *error = get_since(arguments, "since", &ret->since_ns);
    return error ? error : get_since(arguments, "new-since", &ret->new_since_ns);
}

json_t *fleet_place_json(const char *name)
{
    char format[64];
    json_t *json = json_object();
    snprintf(format, sizeof(format), "%s 1", name);
    json_put(json, "format", json_text(format));
    return json;
}
