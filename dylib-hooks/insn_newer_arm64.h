/* Decodes arm64 instructions that Capstone 4 does not know, as far as moving one requires: returns
 * and branches with pointer authentication (ARMv8.3), and the atomics that libraries choose at run
 * time (ARMv8.1) or that C++ makes of acquire loads (ARMv8.3). Arm Architecture Reference Manual,
 * C4.1. */
#ifndef ARGUS_HOOKS_INSN_NEWER_ARM64_H
#define ARGUS_HOOKS_INSN_NEWER_ARM64_H

#include "insn_decode.h"

/* False: it is none of these. Fills `ret` except its ID. */
bool insn_newer_arm64_decode(const uint8_t *bytes, size_t count, uint64_t address,
                             struct insn *ret);

#endif
