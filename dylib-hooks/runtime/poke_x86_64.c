#include "poke.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "other_threads.h"
#include "protection.h"
#include "sync_cores.h"

#define INT3       0xcc
#define NOP        0x90
#define JUMP       0xe9
#define JUMP_BYTES 5
#define PATIENCE   100 /* milliseconds */

static int patience; /* the rest of it for the hooks of one plan */

void poke_begin(void)
{
    patience = PATIENCE;
}

static bool is_one_word(uint64_t victim, uint32_t bytes)
{
    return (victim & 7) + bytes <= 8;
}

/* A thread that is being created blocks everything for a moment: check several times. */
static struct threads_seen look_patiently(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct threads_seen threads = threads_look();
    for (; patience > 0 && threads.blocks_traps; patience--) {
        nanosleep(&pause, NULL);
        threads = threads_look();
    }
    return threads;
}

enum poke_way poke_choose(const struct hook_entry *entry, uint64_t victim, const char **ret_reason)
{
    bool is_word = entry->start_count == 1 && is_one_word(victim, entry->window_bytes);
    struct threads_seen threads = is_word ? threads_look() : look_patiently();
    if (threads.count == 1 && !entry->returns_inside)
        return POKE_PLAIN;
    if (!sync_cores_prepare()) {
        *ret_reason = "other threads are running, and this system has no membarrier() for cores";
        return POKE_REFUSED;
    }
    if (threads.count == 1)
        return POKE_PLAIN;
    if (is_word)
        return POKE_WORD;
    if (threads.count && !threads.blocks_traps)
        return POKE_TRAPS;
    *ret_reason =
        "another thread blocks SIGTRAP, and would die of the trap that keeps it out of the "
        "window; load the library with the program";
    return POKE_REFUSED;
}

struct near_wish poke_wish(const struct hook_entry *entry, enum poke_way way)
{
    struct near_wish wish = {0};
    bool wanted = way == POKE_TRAPS || entry->returns_inside;
    for (uint32_t i = 1; wanted && i < entry->start_count; i++) {
        uint32_t shift = 8 * (entry->starts[i] - 1u);
        wish.mask |= 0xffu << shift;
        wish.value |= (uint32_t)INT3 << shift;
    }
    return wish;
}

static void put_byte(uint8_t *place, uint8_t byte)
{
    __atomic_store_n(place, byte, __ATOMIC_SEQ_CST);
}

static void put_word(uint8_t *window, const uint8_t *bytes, uint32_t count)
{
    uint64_t *word = (uint64_t *)((uintptr_t)window & ~(uintptr_t)7), value = *word;
    memcpy((uint8_t *)&value + ((uintptr_t)window & 7), bytes, count);
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Steps 1 to 3 of poke.h. `traps` are the starts that get an int3 first. */
static void put_behind_traps(uint8_t *window, const uint8_t *bytes, const struct hook_entry *entry,
                             uint32_t traps)
{
    for (uint32_t i = 0; i < traps; i++)
        put_byte(window + entry->starts[i], INT3);
    sync_cores();
    for (uint32_t i = 1; i < entry->window_bytes; i++)
        put_byte(window + i, bytes[i]);
    sync_cores();
    put_byte(window, bytes[0]);
    sync_cores();
}

static const char *put(const struct argus_hook *hook, enum poke_way way, const uint8_t *bytes,
                       uint32_t traps)
{
    const struct hook_entry *entry = hook->entry;
    uint8_t *window = (uint8_t *)(entry->victim + hook->slide);
    struct opened_pages pages;
    if (!protection_open((uintptr_t)window, entry->window_bytes, &pages))
        return "the system does not let its code be changed";
    if (way == POKE_PLAIN)
        memcpy(window, bytes, entry->window_bytes);
    else if (way == POKE_WORD)
        put_word(window, bytes, entry->window_bytes);
    else
        put_behind_traps(window, bytes, entry, traps);
    bool closed = protection_close(&pages);
    if (way == POKE_WORD)
        sync_cores();
    return closed ? NULL : "its code stays writable: the system does not let it be protected again";
}

const char *poke_jump(const struct argus_hook *hook, enum poke_way way)
{
    const struct hook_entry *entry = hook->entry;
    uint8_t bytes[HOOK_WINDOW_MOST];
    uint64_t from = entry->victim + hook->slide + JUMP_BYTES;
    int32_t displacement = (int32_t)((uintptr_t)hook->code - from);
    memset(bytes, NOP, sizeof(bytes));
    bytes[0] = JUMP;
    memcpy(bytes + 1, &displacement, sizeof(displacement));
    return put(hook, way, bytes, entry->start_count);
}

/* No thread is at a later instruction of the window: the jump has led all of them away. Only the
 * first byte needs a trap. */
const char *poke_original(const struct argus_hook *hook, enum poke_way way)
{
    return put(hook, way, hook->entry->original, 1);
}
