/* The functions for each architecture: convert Capstone's representation to Argus's. */
#ifndef ARGUS_STEPS_INSTRUCTION_MACHINE_H
#define ARGUS_STEPS_INSTRUCTION_MACHINE_H

#include <capstone.h>

#include "steps/instruction.h"

/* Registers, flow and memory of `insn`, which Capstone decoded with details; `ret` has address and
 * length. */
void instruction_from_x86(csh handle, const cs_insn *insn, struct instruction *ret);
void instruction_from_arm64(csh handle, const cs_insn *insn, struct instruction *ret);

/* Decodes an arm64 instruction that Capstone 4 does not know; false: unknown here too. `text` (may
 * be NULL) gets the disassembly. */
bool instruction_newer_arm64(uint32_t word, struct instruction *ret, char *text, size_t text_bytes);

/* Appends an element, to be filled in by the caller. NULL: no room. */
struct instruction_memory *instruction_add_memory(struct instruction *instruction);

#endif
