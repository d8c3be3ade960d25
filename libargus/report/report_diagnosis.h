#ifndef ARGUS_REPORT_DIAGNOSIS_H
#define ARGUS_REPORT_DIAGNOSIS_H

#include <jansson.h>

#include "argus/report.h"

/* The whole diagnosis as one object. */
json_t *json_diagnosis(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis);

/* --- report_baseline.c --- */

/* Prints what the same wait or run is normally like, and whose part differs most. */
void report_baseline(const struct argus_report_context *context,
                     const struct argus_diagnosis *diagnosis);
/* The baseline's vertex, or null. */
json_t *json_baseline(const struct argus_report_context *context,
                      const struct argus_diagnosis *diagnosis);
json_t *json_comparison(const struct argus_report_context *context,
                        const struct argus_diagnosis *diagnosis);

#endif
