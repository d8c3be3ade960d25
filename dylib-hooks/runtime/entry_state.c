/* The size of the registers that argus_hook_enter_full() saves. */
#include "running_hook.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define STATE_TILES (3ull << 17) /* AMX: 8 KB, and no shell function uses it */

__attribute__((visibility("hidden"))) uint64_t hook_state_bytes = 576, hook_state_mask = 3;

void hook_entry_prepare(void)
{
    unsigned a, b, c, d;
    uint32_t low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    uint64_t enabled = (uint64_t)high << 32 | low;
    __cpuid_count(0xd, 0, a, b, c, d);
    hook_state_mask = enabled & ~STATE_TILES;
    hook_state_bytes = b; /* of all enabled states: enough */
}

#else

void hook_entry_prepare(void)
{
}

#endif
