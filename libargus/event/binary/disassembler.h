/* Capstone, set up to decode one instruction after the other with details. For one thread. */
#ifndef ARGUS_EVENT_DISASSEMBLER_H
#define ARGUS_EVENT_DISASSEMBLER_H

#include <stdbool.h>

#include <capstone.h>

#include "argus/error.h"

struct disassembler {
    csh handle;    /* 0: none */
    cs_insn *insn; /* owned; overwritten for each instruction */
};

/* For arm64 if `arm64`, else for x86-64. After an error there is nothing to deinit.
 * ARGUS_ERROR_UNSUPPORTED: Capstone was built without this architecture. */
struct argus_error *disassembler_init(struct disassembler *disassembler, bool arm64);
void disassembler_deinit(struct disassembler *disassembler);

#endif
