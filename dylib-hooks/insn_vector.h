/* Decodes vector instructions (VEX, EVEX) that an older Capstone does not know, as far as moving
 * one requires: the length, and an operand relative to its own address. None of them branches.
 * Intel's manual, volume 2: 2.3.5, 2.7.1 and table 2-38. */
#ifndef ARGUS_HOOKS_INSN_VECTOR_H
#define ARGUS_HOOKS_INSN_VECTOR_H

#include "insn_decode.h"

/* False: it is none of these. Fills `ret` except its ID. */
bool insn_vector_decode(const uint8_t *bytes, size_t count, uint64_t address, struct insn *ret);

#endif
