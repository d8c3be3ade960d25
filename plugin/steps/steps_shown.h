/* Step files where a command prints what is in a file: steps, dump, info. */
#ifndef ARGUS_PLUGIN_STEPS_SHOWN_H
#define ARGUS_PLUGIN_STEPS_SHOWN_H

#include "argus/report.h"
#include "plugin/command.h"

/* Prints the items; in text, first what was stepped. */
struct argus_error *steps_show(struct session *session, struct argus_steps *steps,
                               const struct argus_report_steps_options *options);

/* Opens the first word of the command line if it names a step file; `*ret` NULL: it names none. */
struct argus_error *steps_of_arguments(const struct arguments *arguments, struct argus_steps **ret);

#endif
