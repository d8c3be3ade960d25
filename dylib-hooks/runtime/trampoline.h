/* Trampolines of the hooks of one plan, in near memory. */
#ifndef ARGUS_HOOKS_TRAMPOLINE_H
#define ARGUS_HOOKS_TRAMPOLINE_H

#include "poke.h"
#include "running_hook.h"

/* Pages shared by the trampolines of a plan, except those with required displacement bits. */
struct arena {
    uint8_t *place; /* NULL: not mapped yet */
    size_t used, bytes;
    void *pages;
    size_t page_bytes;
};

/* Allocates hook->code, unless it has one with the required bits. NULL, or why it failed. */
const char *trampoline_make(struct argus_hook *hook, struct arena *arena,
                            const struct near_wish *wish);
/* Makes the shared pages executable, and no longer writable. */
bool arena_close(const struct arena *arena);

#endif
