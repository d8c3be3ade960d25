/* LLDB commands for inspecting a vertex's code in a live run. */
#ifndef ARGUS_PLUGIN_STEP_SCRIPT_H
#define ARGUS_PLUGIN_STEP_SCRIPT_H

#include "plugin/steps/step_place.h"

/* Writes the commands to `out`. */
struct argus_error *step_script_write(const struct analysis *analysis, uint32_t vertex,
                                      const struct step_origin *origin, FILE *out);

#endif
