/* The interface of instruction_x86_access.c for instruction_x86.c. */
#ifndef ARGUS_STEPS_INSTRUCTION_X86_H
#define ARGUS_STEPS_INSTRUCTION_X86_H

#include "steps/instruction_machine.h"

/* Has a memory operand, but does not access it: lea, nop … */
bool x86_only_names(const cs_insn *insn);
/* Only sets flags. */
bool x86_only_compares(unsigned id);
/* Writes the value that it read. */
bool x86_is_move(const cs_insn *insn);
/* CS_AC_READ, CS_AC_WRITE or both, for a memory or register operand. */
uint8_t x86_memory_access(const cs_insn *insn, unsigned operand);
uint8_t x86_register_access(const cs_insn *insn, unsigned operand, uint8_t flow);

#endif
