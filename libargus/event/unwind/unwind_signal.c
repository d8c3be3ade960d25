#include "event/unwind/unwind_signal.h"

#include <string.h>

#define SP 31
/* struct rt_sigframe (arch/arm64/kernel/signal.c) is a siginfo_t of 128 bytes and a struct ucontext
 * (asm/ucontext.h), in which struct sigcontext begins at 176, and in that, behind the fault
 * address, x0 … x30, sp and pc. */
#define REGISTERS_AT (128 + 176 + 8)

bool unwind_signal_is_return(const uint8_t code[UNWIND_SIGNAL_CODE_BYTES])
{
    static const uint8_t wanted[UNWIND_SIGNAL_CODE_BYTES] = {
        0x68, 0x11, 0x80, 0xd2, /* mov x8, #139: rt_sigreturn */
        0x01, 0x00, 0x00, 0xd4, /* svc #0 */
    };
    return memcmp(code, wanted, sizeof(wanted)) == 0;
}

bool unwind_signal_step(struct cfi_machine *machine)
{
    uint64_t registers[CFI_REGISTERS], from = machine->registers[SP] + REGISTERS_AT;
    if (!(machine->known >> SP & 1))
        return false;
    for (uint32_t i = 0; i < CFI_REGISTERS; i++)
        if (!machine->read(machine->context, from + 8 * i, &registers[i]))
            return false;
    memcpy(machine->registers, registers, sizeof(registers));
    machine->known = (1ull << CFI_REGISTERS) - 1;
    machine->cfa = 0;
    return true;
}
