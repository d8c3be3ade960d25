/* One instruction, one word, one store; and then the caches. poke.h says why only with one thread.
 */
#include "poke.h"

#include <string.h>

#include "other_threads.h"
#include "protection.h"

#define B 0x14000000u

void poke_begin(void)
{
}

enum poke_way poke_choose(const struct hook_entry *entry, uint64_t victim, const char **ret_reason)
{
    struct threads_seen threads = threads_look();
    (void)entry, (void)victim;
    if (threads.count == 1)
        return POKE_PLAIN;
    *ret_reason = "other threads are running: load the library with the program";
    return POKE_REFUSED;
}

struct near_wish poke_wish(const struct hook_entry *entry, enum poke_way way)
{
    (void)entry, (void)way;
    return (struct near_wish){0};
}

static const char *put(const struct argus_hook *hook, uint32_t word)
{
    return protection_put_word(hook->entry->victim + hook->slide, word);
}

const char *poke_jump(const struct argus_hook *hook, enum poke_way way)
{
    int64_t distance = (int64_t)((uintptr_t)hook->code - (hook->entry->victim + hook->slide));
    (void)way;
    return put(hook, B | ((uint64_t)distance >> 2 & 0x03ffffffu));
}

const char *poke_original(const struct argus_hook *hook, enum poke_way way)
{
    uint32_t word;
    (void)way;
    memcpy(&word, hook->entry->original, sizeof(word));
    return put(hook, word);
}
