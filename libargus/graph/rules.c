#include "graph/rules.h"

const struct argus_rule rule_rows[RULE_COUNT] = {
#define RULE(symbol, name_, stage_, description_)                                                  \
    [RULE_##symbol] = {.name = (name_), .stage = (stage_), .description = (description_)},
#include "graph/rules.def"
#undef RULE
};
