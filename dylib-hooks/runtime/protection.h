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

/* Code stays executable meanwhile, because other threads execute it. False: the system refuses. */
bool protection_open(uint64_t address, size_t bytes, struct opened_pages *ret);
/* Restores the protection. */
bool protection_close(const struct opened_pages *pages);

#endif
