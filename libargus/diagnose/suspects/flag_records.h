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

/* The address of that code; 0: not known. */
struct argus_error *flag_record_code(struct diagnoser *d, const struct flag_access_at *access,
                                     uint64_t *ret);

/* Whether `thread` wrote the variable at `address` in `part` by the code at `code` (0: by any). */
struct argus_error *flag_records_has_write(struct diagnoser *d, uint32_t thread, uint64_t address,
                                           uint64_t code, struct window part, bool *ret);

#endif
