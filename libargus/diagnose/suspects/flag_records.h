/* The records of a watched variable: what the graph does not keep of them. */
#ifndef ARGUS_DIAGNOSE_FLAG_RECORDS_H
#define ARGUS_DIAGNOSE_FLAG_RECORDS_H

#include "diagnose/diagnoser.h"

/* An access of a watched variable. */
struct flag_access_at {
    uint32_t vertex;
    uint64_t time_ns, address;
};

/* The code of that access: "decode_done (decoder.c:88)"; owned by the caller. `*ret` NULL: not
 * known. */
struct argus_error *flag_record_place(struct diagnoser *d, const struct flag_access_at *access,
                                      char **ret);

#endif
