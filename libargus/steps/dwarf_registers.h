/* DWARF's numbers of the general registers: the System V ABI's for x86-64, figure 3.36; arm64
 * counts as its instructions do. */
#ifndef ARGUS_STEPS_DWARF_REGISTERS_H
#define ARGUS_STEPS_DWARF_REGISTERS_H

#include "steps/instruction.h"

static const uint8_t dwarf_x86_registers[] = {REGISTER_RAX, REGISTER_RDX, REGISTER_RCX,
                                              REGISTER_RBX, REGISTER_RSI, REGISTER_RDI,
                                              REGISTER_RBP, REGISTER_RSP};

static inline unsigned register_of_dwarf(bool is_arm64, unsigned number)
{
    return is_arm64 || number >= sizeof(dwarf_x86_registers) ? number : dwarf_x86_registers[number];
}

static inline unsigned dwarf_of_register(bool is_arm64, unsigned number)
{
    for (unsigned i = 0; !is_arm64 && i < sizeof(dwarf_x86_registers); i++)
        if (dwarf_x86_registers[i] == number)
            return i;
    return number;
}

#endif
