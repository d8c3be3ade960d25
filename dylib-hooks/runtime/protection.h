/* Makes pages writable for a moment. */
#ifndef ARGUS_HOOKS_PROTECTION_H
#define ARGUS_HOOKS_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opened_pages {
    void *first;
    size_t bytes;
    int before; /* PROT_… */
};

/* Code stays executable meanwhile, because other threads execute it; not on Apple silicon, where
 * protection_put_word() is for that. False: the system refuses. */
bool protection_open(uint64_t address, size_t bytes, struct opened_pages *ret);
/* Restores the protection. */
bool protection_close(const struct opened_pages *pages);

/* arm64: writes one instruction. `address` is a multiple of 4. On macOS the page is replaced by a
 * changed copy, so that it is executable at any moment: the code that does this may be in it.
 * NULL, or why it failed. */
const char *protection_put_word(uint64_t address, uint32_t word);

#endif
