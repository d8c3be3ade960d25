/* Trampolines of the hooks of one plan, in near memory. */
#ifndef ARGUS_HOOKS_TRAMPOLINE_H
#define ARGUS_HOOKS_TRAMPOLINE_H

#include "poke.h"
#include "running_hook.h"

/* Pages that most trampolines of a plan share: all but those that have a wish. */
struct arena {
    uint8_t *place; /* NULL: not mapped yet */
    size_t used, bytes;
    void *pages;
    size_t page_bytes;
};

/* Gives hook->code, if it has none that is as wished. NULL or why not. */
const char *trampoline_make(struct argus_hook *hook, struct arena *arena,
                            const struct near_wish *wish);
/* Makes the shared pages executable, and no longer writable. */
bool arena_close(const struct arena *arena);

#endif
