#ifndef ARGUS_REPORT_HANGS_H
#define ARGUS_REPORT_HANGS_H

#include <jansson.h>

#include "argus/report.h"

/* The object of a hang (DESIGN section 8), without its vertex. */
json_t *json_hang(const struct argus_report_context *context, const struct argus_hang *hang);

#endif
