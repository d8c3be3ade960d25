/* The fleet's answers as text. */
#ifndef ARGUS_PLUGIN_FLEET_TEXT_H
#define ARGUS_PLUGIN_FLEET_TEXT_H

#include "fleet/fleet_views.h"
#include "plugin/session.h"

/* Prints the totals and the rows of a view. `all`: how many there are with those that are not
 * printed. */
void fleet_text_view(struct session *session, enum fleet_view view, const json_t *totals,
                     const json_t *rows, size_t all);

/* Prints only the rows, with a heading. */
void fleet_text_rows(struct session *session, enum fleet_view view, const json_t *rows);

/* The command that explains the hang `number` of `file`, quoted for a shell, into `buffer`, which
 * is returned. */
const char *fleet_text_command(const char *file, int64_t number, char *buffer, size_t bytes);

#endif
