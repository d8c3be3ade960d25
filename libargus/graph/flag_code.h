/* What an instruction does to a data flag: by the program's code, where the watchpoint alone cannot tell. */
#ifndef ARGUS_GRAPH_FLAG_CODE_H
#define ARGUS_GRAPH_FLAG_CODE_H

#include "argus/trace.h"

enum flag_deed {
    FLAG_DEED_UNKNOWN, /* its file is gone or another one now, or its bytes do not say */
    FLAG_DEED_READS,
    FLAG_DEED_WRITES,
    FLAG_DEED_BOTH, /* lock add, xchg, cmpxchg … */
};

struct flag_code;

/* `trace`: borrowed. NULL without memory. Belongs to one thread. */
struct flag_code *flag_code_create(const struct argus_trace *trace);
void flag_code_destroy(struct flag_code *code);

/* Of the instruction after which process `pid` was found at `pc`, at `time_ticks`. Remembers the answer. */
enum flag_deed flag_code_deed(struct flag_code *code, uint64_t pid, uint64_t pc,
                              uint64_t time_ticks);

#endif
