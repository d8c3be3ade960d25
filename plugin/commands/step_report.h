/* Prints the result of `argus step`. */
#ifndef ARGUS_PLUGIN_STEP_REPORT_H
#define ARGUS_PLUGIN_STEP_REPORT_H

#include "plugin/steps/step_session.h"

/* `label`: the place's name; `path`: the step file. */
struct argus_error *step_report(struct session *session, const struct step_outcome *outcome,
                                const char *label, const char *path, bool json);

#endif
