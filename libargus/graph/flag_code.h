/* Whether an instruction reads or writes a data flag, if the watchpoint alone cannot tell. */
#ifndef ARGUS_GRAPH_FLAG_CODE_H
#define ARGUS_GRAPH_FLAG_CODE_H

#include "argus/trace.h"

enum flag_deed {
    FLAG_DEED_UNKNOWN, /* its file is gone or was replaced, or its bytes do not tell */
    FLAG_DEED_READS,
    FLAG_DEED_WRITES,
    FLAG_DEED_BOTH, /* lock add, xchg, cmpxchg … */
};

struct flag_code;

/* `trace` is borrowed. NULL without memory. One thread at a time. */
struct flag_code *flag_code_create(const struct argus_trace *trace);
void flag_code_destroy(struct flag_code *code);

/* The deed of the instruction after which process `pid` was stopped at `pc`, at `time_ticks`. The
 * answer is cached. */
enum flag_deed flag_code_deed(struct flag_code *code, uint64_t pid, uint64_t pc,
                              uint64_t time_ticks);

#endif
