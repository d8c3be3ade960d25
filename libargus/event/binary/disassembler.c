#include "event/binary/disassembler.h"

struct argus_error *disassembler_init(struct disassembler *disassembler, bool arm64)
{
    *disassembler = (struct disassembler){0};
    cs_err failed = cs_open(arm64 ? CS_ARCH_ARM64 : CS_ARCH_X86, arm64 ? CS_MODE_ARM : CS_MODE_64,
                            &disassembler->handle);
    if (failed == CS_ERR_MEM)
        return argus_error_memory();
    if (failed)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this libcapstone cannot decode instructions of %s: %s",
                                  arm64 ? "arm64" : "x86-64", cs_strerror(failed));
    cs_option(disassembler->handle, CS_OPT_DETAIL, CS_OPT_ON);
    disassembler->insn = cs_malloc(disassembler->handle);
    if (disassembler->insn)
        return NULL;
    disassembler_deinit(disassembler);
    return argus_error_memory();
}

void disassembler_deinit(struct disassembler *disassembler)
{
    if (disassembler->insn)
        cs_free(disassembler->insn, 1);
    if (disassembler->handle)
        cs_close(&disassembler->handle);
    *disassembler = (struct disassembler){0};
}
