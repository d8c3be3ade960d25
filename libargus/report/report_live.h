/* The two writers of the answer about the living system. */
#ifndef ARGUS_REPORT_REPORT_LIVE_H
#define ARGUS_REPORT_REPORT_LIVE_H

#include <jansson.h>

#include "argus/live.h"

json_t *json_live(struct argus_live *live, uint32_t thread, const struct argus_live_answer *answer,
                  const char *recording);

#endif
