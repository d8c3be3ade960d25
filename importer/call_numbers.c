#include "call_numbers.h"

#include <string.h>

int call_number_of(enum argus_arch arch, const char *name)
{
    static const struct {
        int number;
        const char *name;
    } x86_64[] =
        {
#define SYSCALL(number, name, wait, flags) {number, #name},
#include "event/syscalls_x86_64.def"
        },
      aarch64[] = {
#include "event/syscalls_aarch64.def"
#undef SYSCALL
      };
    bool is_arm = arch == ARGUS_ARCH_AARCH64;
    size_t count = is_arm ? sizeof(aarch64) / sizeof(*aarch64) : sizeof(x86_64) / sizeof(*x86_64);
    for (size_t i = 0; i < count; i++)
        if (strcmp(is_arm ? aarch64[i].name : x86_64[i].name, name) == 0)
            return is_arm ? aarch64[i].number : x86_64[i].number;
    return -1;
}
