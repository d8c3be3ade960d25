/* Analyses one file for the fleet's database. */
#ifndef ARGUS_PLUGIN_FLEET_ANALYSIS_H
#define ARGUS_PLUGIN_FLEET_ANALYSIS_H

#include <jansson.h>

#include "plugin/command.h"

/* Makes rows (fleet/fleet_row.h) of all hangs of 2 s or longer, and of the hang for which the file
 * was kept, whatever its length. Questions take their defaults, and no server is asked for symbols,
 * so the same file always gives the same rows. The caller owns `*ret`. */
struct argus_error *fleet_analyse(struct session *session, const struct arguments *arguments,
                                  const char *path, json_t **ret);

#endif
