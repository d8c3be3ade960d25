/* The part of a report that says what the rules can do on a trace of Darwin. */
#ifndef ARGUS_REPORT_ABILITIES_H
#define ARGUS_REPORT_ABILITIES_H

#include <jansson.h>

#include "argus/abilities.h"
#include "argus/report.h"

void report_abilities(const struct argus_sink *sink, const struct argus_abilities *abilities);
json_t *json_abilities(const struct argus_abilities *abilities);

#endif
