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
