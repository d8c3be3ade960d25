/* The records of a watched variable: what the graph does not keep of them. */
#ifndef ARGUS_DIAGNOSE_FLAG_RECORDS_H
#define ARGUS_DIAGNOSE_FLAG_RECORDS_H

#include "diagnose/diagnoser.h"

/* The code that wrote the variable at the beginning of `edge` (kind ARGUS_EDGE_FLAG):
 * "decode_done (decoder.c:88)"; owned by the caller. `*ret` NULL: not known. */
struct argus_error *flag_record_place(struct diagnoser *d, const struct argus_edge *edge,
                                      char **ret);

#endif
