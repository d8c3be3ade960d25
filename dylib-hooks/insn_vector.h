/* Vector instructions (VEX, EVEX) that an older Capstone does not know, as far as moving one needs it: its length, and data that it
 * names by its own address. None of them branches. Intel's manual, volume 2: 2.3.5, 2.7.1 and table 2-38. */
#ifndef ARGUS_HOOKS_INSN_VECTOR_H
#define ARGUS_HOOKS_INSN_VECTOR_H

#include "insn_decode.h"

/* False: there is none. `ret` is filled all but for its id. */
bool insn_vector_decode(const uint8_t *bytes, size_t count, uint64_t address, struct insn *ret);

#endif
