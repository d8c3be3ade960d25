#include "trampoline.h"

#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16u

#if defined(__aarch64__)
#define JUMP_BYTES 0 /* B is relative to itself */
#else
#define JUMP_BYTES 5
#endif

static uint64_t jump_from(const struct argus_hook *hook)
{
    return hook->entry->victim + hook->slide + JUMP_BYTES;
}

static size_t arena_room(const struct hook_plan *plan)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < plan->entry_count; i++)
        bytes += (plan_entry(plan, i)->code_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    return bytes;
}

static bool is_reached(uint64_t from, const uint8_t *code)
{
    int64_t distance = (int64_t)((uintptr_t)code - from);
#if defined(__aarch64__)
    return distance > -(1 << 27) && distance < 1 << 27;
#else
    return distance == (int32_t)distance;
#endif
}

static uint8_t *from_arena(const struct argus_hook *hook, struct arena *arena)
{
    static const struct near_wish none;
    if (!arena->place) {
        arena->bytes = arena_room(hook->plan);
        arena->place = near_memory_map(jump_from(hook), arena->bytes, &none, &arena->pages,
                                       &arena->page_bytes);
    }
    uint8_t *code = arena->place ? arena->place + arena->used : NULL;
    if (!code || !is_reached(jump_from(hook), code))
        return NULL;
    arena->used += (hook->entry->code_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    return code;
}

static void put(uint8_t *place, uint64_t value, size_t bytes)
{
    memcpy(place, &value, bytes);
}

static bool put_relative(uint8_t *place, int64_t distance)
{
    put(place, (uint64_t)distance, 4);
    return distance == (int32_t)distance;
}

/* B: the distance in words, 26 bits of it. */
static bool put_branch(uint8_t *place, int64_t distance)
{
    uint32_t word;
    memcpy(&word, place, sizeof(word));
    word = (word & 0xfc000000u) | (((uint64_t)distance >> 2) & 0x03ffffffu);
    put(place, word, sizeof(word));
    return distance > -(1 << 27) && distance < 1 << 27;
}

static bool apply(const struct argus_hook *hook, const struct hook_fixup *fixup)
{
    uint8_t *place = hook->code + fixup->place;
    uint64_t address = fixup->address + hook->slide;
    bool fits = true;
    switch (fixup->kind) {
    case HOOK_FIXUP_REL32:
        fits = put_relative(place, (int64_t)(address - ((uintptr_t)place + fixup->extra)));
        break;
    case HOOK_FIXUP_ABS32_LOW:
        put(place, address, 4);
        break;
    case HOOK_FIXUP_ABS32_HIGH:
        put(place, address >> 32, 4);
        break;
    case HOOK_FIXUP_ABS64:
        put(place, address, 8);
        break;
    case HOOK_FIXUP_BRANCH26:
        fits = put_branch(place, (int64_t)(address - (uintptr_t)place));
        break;
    case HOOK_FIXUP_HOOK64:
        put(place, (uintptr_t)hook, 8);
        break;
    case HOOK_FIXUP_ENTRY64:
        put(place, (uintptr_t)(hook->user_shell ? argus_hook_enter_full : argus_hook_enter), 8);
        break;
    }
    return fits;
}

static const char *fill(const struct argus_hook *hook)
{
    const struct hook_entry *entry = hook->entry;
    const struct hook_fixup *fixups = plan_at(hook->plan, entry->fixups);
    memcpy(hook->code, plan_at(hook->plan, entry->code), entry->code_bytes);
    for (uint32_t i = 0; i < entry->fixup_count; i++)
        if (!apply(hook, &fixups[i]))
            return "what an instruction of the window names is out of reach of the trampoline";
    return NULL;
}

static bool is_as_wished(const struct argus_hook *hook, const struct near_wish *wish)
{
    uint32_t displacement = (uint32_t)((uintptr_t)hook->code - jump_from(hook));
    return hook->code && (displacement & wish->mask) == wish->value;
}

const char *trampoline_make(struct argus_hook *hook, struct arena *arena,
                            const struct near_wish *wish)
{
    void *pages = NULL;
    size_t page_bytes = 0;
    if (is_as_wished(hook, wish))
        return NULL;
    uint8_t *code = wish->mask ? NULL : from_arena(hook, arena);
    if (!code)
        code = near_memory_map(jump_from(hook), hook->entry->code_bytes, wish, &pages, &page_bytes);
    if (!code)
        return "no memory is free near enough for a jump";
    hook->code = code;
    const char *reason = fill(hook);
    if (!reason && pages && mprotect(pages, page_bytes, PROT_READ | PROT_EXEC) != 0)
        reason = "the system allows no new code";
    __builtin___clear_cache((char *)code, (char *)code + hook->entry->code_bytes);
    return reason;
}

bool arena_close(const struct arena *arena)
{
    return !arena->place || mprotect(arena->pages, arena->page_bytes, PROT_READ | PROT_EXEC) == 0;
}
