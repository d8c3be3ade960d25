/* Values of the rows that a view of the hang database has (fleet/fleet_views.h). */
#ifndef ARGUS_PLUGIN_ROW_VALUES_H
#define ARGUS_PLUGIN_ROW_VALUES_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MINUTE_BYTES = 24 };

/* "" if the row has none. Borrowed from the row. */
static inline const char *text_of(const json_t *row, const char *member)
{
    const char *text = json_string_value(json_object_get(row, member));
    return text ? text : "";
}

static inline int64_t number_of(const json_t *row, const char *member)
{
    return json_integer_value(json_object_get(row, member));
}

/* "2026-11-26 10:01" of an ISO time, into `buffer`, which is returned. */
static inline const char *minute_of(const json_t *row, const char *member,
                                    char buffer[ROW_MINUTE_BYTES])
{
    const char *time = text_of(row, member);
    snprintf(buffer, ROW_MINUTE_BYTES, "%.10s %.5s", time, strlen(time) > 16 ? time + 11 : "");
    return buffer;
}

#endif
