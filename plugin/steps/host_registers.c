#include "plugin/steps/host_registers.h"

#include <stddef.h>

#include "plugin/steps/step_calls.h"

/* Registers whose names in LLDB differ from those in step files. */
static const struct {
    enum argus_arch arch;
    uint32_t number;
    const char *name;
} other_names[] = {
    {ARGUS_ARCH_AARCH64, 29, "fp"},
    {ARGUS_ARCH_AARCH64, ARGUS_ARM64_X30, "lr"},
    {ARGUS_ARCH_AARCH64, ARGUS_ARM64_PSTATE, "cpsr"},
};

uint32_t host_register_count(void)
{
    return argus_step_register_count(HOST_ARCH);
}

const char *host_register_name_in_lldb(uint32_t number)
{
    for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names); i++)
        if (other_names[i].arch == HOST_ARCH && other_names[i].number == number)
            return other_names[i].name;
    return argus_step_register_name(HOST_ARCH, number);
}

#if defined(__aarch64__) || defined(__arm64__)
enum { SP = ARGUS_ARM64_SP, RESULT = ARGUS_ARM64_X0 };
static const uint8_t argument_registers[6] = {0, 1, 2, 3, 4, 5};
#else
enum { SP = ARGUS_X86_RSP, RESULT = ARGUS_X86_RAX };
static const uint8_t argument_registers[6] = {ARGUS_X86_RDI, ARGUS_X86_RSI, ARGUS_X86_RDX,
                                              ARGUS_X86_RCX, ARGUS_X86_R8,  ARGUS_X86_R8 + 1};
#endif

uint64_t host_pc(const uint64_t *registers)
{
    return registers[PC];
}

uint64_t host_stack_pointer(const uint64_t *registers)
{
    return registers[SP];
}

uint64_t host_result(const uint64_t *registers)
{
    return registers[RESULT];
}

void host_arguments(const uint64_t *registers, uint64_t ret[6])
{
    for (int i = 0; i < 6; i++)
        ret[i] = registers[argument_registers[i]];
}
