/* The only instructions of a generated library: call the runtime with the plan, as a jump to the
 * address in a slot. */
#ifndef ARGUS_HOOKS_START_CODE_H
#define ARGUS_HOOKS_START_CODE_H

#include <stdint.h>
#include <string.h>

#include "plan.h"

#define START_CODE_BYTES 24u

/* All three are addresses in the library. */
static inline void start_code_put(enum hook_arch arch, uint64_t code, uint64_t plan, uint64_t slot,
                                  uint8_t *ret)
{
    memset(ret, 0xcc, START_CODE_BYTES);
    if (arch == HOOK_ARCH_ARM64) {
        uint64_t page = code & ~0xfffull, plan_page = (plan & ~0xfffull) - page;
        uint64_t slot_page = (slot & ~0xfffull) - page;
        const uint32_t words[] = {
            0x90000000u | (plan_page >> 12 & 3) << 29 | (plan_page >> 14 & 0x7ffff) << 5,
            0x91000000u | (uint32_t)(plan & 0xfff) << 10, /* add x0, x0, #low */
            0x90000010u | (slot_page >> 12 & 3) << 29 | (slot_page >> 14 & 0x7ffff) << 5,
            0xf9400210u | (uint32_t)((slot & 0xfff) / 8) << 10, /* ldr x16, [x16, #low] */
            0xd61f0200u,                                        /* br x16 */
        };
        memcpy(ret, words, sizeof(words));
        return;
    }
    uint32_t plan_distance = (uint32_t)(plan - (code + 7));
    uint32_t slot_distance = (uint32_t)(slot - (code + 13));
    memcpy(ret, "\x48\x8d\x3d", 3); /* lea rdi, [rip + …] */
    memcpy(ret + 3, &plan_distance, 4);
    memcpy(ret + 7, "\xff\x25", 2); /* jmp [rip + …] */
    memcpy(ret + 9, &slot_distance, 4);
}

#endif
