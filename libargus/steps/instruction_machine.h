/* What instruction.c asks of the file of a machine: from Capstone's form to ours. */
#ifndef ARGUS_STEPS_INSTRUCTION_MACHINE_H
#define ARGUS_STEPS_INSTRUCTION_MACHINE_H

#include <capstone.h>

#include "steps/instruction.h"

/* Registers, flow and memory of `insn`, which Capstone decoded with details; `ret` has address and length. */
void instruction_from_x86(csh handle, const cs_insn *insn, struct instruction *ret);
void instruction_from_arm64(csh handle, const cs_insn *insn, struct instruction *ret);

/* An arm64 instruction that Capstone 4 does not know; false: neither do we. `text` (may be NULL) gets what a disassembler
 * would say. */
bool instruction_newer_arm64(uint32_t word, struct instruction *ret, char *text, size_t text_bytes);

/* Appends, if there is room, and gives it to fill in. NULL: no room. */
struct instruction_memory *instruction_add_memory(struct instruction *instruction);

#endif
