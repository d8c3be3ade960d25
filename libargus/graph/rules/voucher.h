/* Darwin's vouchers: voucher.c. */
#ifndef ARGUS_GRAPH_RULES_VOUCHER_H
#define ARGUS_GRAPH_RULES_VOUCHER_H

#include <stdbool.h>

#include "argus/record.h"

struct builder;

/* The state of this feature: the latest holder of each voucher. */
struct vouchers *vouchers_create(void);
void vouchers_destroy(struct vouchers *vouchers);

/* Handles a record about a voucher. */
void rule_voucher(struct builder *builder, const struct argus_record *record);
/* Whether there was any voucher so far. */
bool vouchers_seen(const struct vouchers *vouchers);

#endif
