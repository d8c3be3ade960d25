/* Copies of reasons. */
#ifndef ARGUS_DIAGNOSE_REASONS_H
#define ARGUS_DIAGNOSE_REASONS_H

#include "argus/diagnose.h"

/* Copies a reason with all that it points to, of which the original may borrow each part; false
 * without memory. */
bool reason_copy(const struct argus_reason *reason, struct argus_reason *ret);
void reason_deinit(struct argus_reason *reason);

#endif
