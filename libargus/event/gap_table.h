/* The kinds of event/gaps.def, for the two files that use them. */
#ifndef ARGUS_EVENT_GAP_TABLE_H
#define ARGUS_EVENT_GAP_TABLE_H

enum gap_kind {
#define GAP(symbol, ...) GAP_##symbol,
#define SIGN(...)
#define PROGRAM(...)
#define ANSWER(...)
#include "event/gaps.def"
#undef GAP
#undef SIGN
#undef PROGRAM
#undef ANSWER
    GAP_COUNT
};

struct gap_row {
    const char *name, *lack;
};

#endif
