/* What instruction_x86.c asks of instruction_x86_access.c. */
#ifndef ARGUS_STEPS_INSTRUCTION_X86_H
#define ARGUS_STEPS_INSTRUCTION_X86_H

#include "steps/instruction_machine.h"

/* Names memory, or seems to, and leaves it alone: lea, nop … */
bool x86_only_names(const cs_insn *insn);
/* Sets flags and nothing else. */
bool x86_only_compares(unsigned id);
/* Writes what it read. */
bool x86_is_move(const cs_insn *insn);
/* CS_AC_READ, CS_AC_WRITE or both, of an operand that is memory, or a register. */
uint8_t x86_memory_access(const cs_insn *insn, unsigned operand);
uint8_t x86_register_access(const cs_insn *insn, unsigned operand, uint8_t flow);

#endif
