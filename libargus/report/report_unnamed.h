/* How many frames of an answer have no symbol, and why: printed once, at its end. */
#ifndef ARGUS_REPORT_UNNAMED_H
#define ARGUS_REPORT_UNNAMED_H

#include "argus/symbols.h"
#include "report/json.h"

/* Prints one sentence; nothing if all frames have a symbol. `symbols` may be NULL. */
void report_unnamed(const struct argus_sink *sink, const struct argus_symbols *symbols);
/* {frames, unnamed, why: [{frames, reason}]}; null if all frames have a symbol. */
json_t *json_unnamed(const struct argus_symbols *symbols);

#endif
