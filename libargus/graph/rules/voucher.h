/* Vouchers of Darwin: voucher.c. */
#ifndef ARGUS_GRAPH_RULES_VOUCHER_H
#define ARGUS_GRAPH_RULES_VOUCHER_H

#include <stdbool.h>

#include "argus/record.h"

struct builder;

/* The state of this feature: who had each voucher last. */
struct vouchers *vouchers_create(void);
void vouchers_destroy(struct vouchers *vouchers);

/* Something is done with a voucher. */
void rule_voucher(struct builder *builder, const struct argus_record *record);
/* Was there a voucher at all? */
bool vouchers_seen(const struct vouchers *vouchers);

#endif
