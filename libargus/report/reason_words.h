/* Reasons in words. */
#ifndef ARGUS_REPORT_REASON_WORDS_H
#define ARGUS_REPORT_REASON_WORDS_H

#include "argus/report.h"

#define REASON_TEXT_BYTES 4096 /* are enough for any */

/* The sentence of `reason`, without its end. `loop`: that of the culprit; NULL: the reason has one,
 * or needs none. Written into `buffer`, which is returned. */
const char *reason_text(const struct argus_report_context *context,
                        const struct argus_reason *reason, const struct argus_code_loop *loop,
                        char *buffer, size_t bytes);

/* Whether a sentence may have this word in braces. */
bool reason_has_field(const char *name, size_t length);

#endif
