/* Writes a trampoline: bytes and fixups. The room is checked once, at the end. */
#ifndef ARGUS_HOOKS_TRAMPOLINE_TEXT_H
#define ARGUS_HOOKS_TRAMPOLINE_TEXT_H

#include <string.h>

#include "window.h"

static inline void text_bytes(struct trampoline_plan *plan, const void *bytes, size_t count)
{
    if (plan->bytes + count <= TRAMPOLINE_MOST)
        memcpy(plan->code + plan->bytes, bytes, count);
    plan->bytes += (uint32_t)count;
}

/* A fixup at `place`. */
static inline void text_fixup(struct trampoline_plan *plan, uint32_t place,
                              enum hook_fixup_kind kind, uint64_t address, uint32_t extra)
{
    if (plan->fixup_count < FIXUPS_MOST)
        plan->fixups[plan->fixup_count] = (struct hook_fixup){.address = address,
                                                              .place = (uint16_t)place,
                                                              .kind = (uint8_t)kind,
                                                              .extra = (uint8_t)extra};
    plan->fixup_count++;
}

static inline bool text_fits(const struct trampoline_plan *plan)
{
    return plan->bytes <= TRAMPOLINE_MOST && plan->fixup_count <= FIXUPS_MOST;
}

#endif
