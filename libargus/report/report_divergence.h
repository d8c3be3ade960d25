/* What the writers of a divergence, and of an instruction trace, share. */
#ifndef ARGUS_REPORT_DIVERGENCE_H
#define ARGUS_REPORT_DIVERGENCE_H

#include <jansson.h>

#include "argus/report.h"

struct argus_error *report_divergence_json(const struct argus_sink *sink,
                                           struct argus_steps *const runs[2],
                                           const struct argus_divergence *divergence);

/* "wait_until (settings.c:62)", "settings+0x1234", "0x7f…"; into `buffer`, which is returned. */
const char *report_place_text(const struct argus_code_place *place, char *buffer, size_t bytes);
/* A place in code, with its address as a string; null for address 0. */
json_t *report_place_json(const struct argus_code_place *place);

#endif
