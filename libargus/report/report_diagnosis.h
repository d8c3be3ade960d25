#ifndef ARGUS_REPORT_DIAGNOSIS_H
#define ARGUS_REPORT_DIAGNOSIS_H

#include <jansson.h>

#include "argus/report.h"

/* The whole diagnosis as one object. */
json_t *json_diagnosis(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis);

#endif
