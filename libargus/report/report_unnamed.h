/* How many of the frames that an answer shows have no symbol, and why: once, at its end. */
#ifndef ARGUS_REPORT_UNNAMED_H
#define ARGUS_REPORT_UNNAMED_H

#include "argus/symbols.h"
#include "report/json.h"

/* One sentence; nothing when all have one. `symbols` may be NULL. */
void report_unnamed(const struct argus_sink *sink, const struct argus_symbols *symbols);
/* {frames, unnamed, why: [{frames, reason}]}; null when all have one. */
json_t *json_unnamed(const struct argus_symbols *symbols);

#endif
