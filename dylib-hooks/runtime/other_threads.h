/* The other threads of this process (other_threads_linux.c, other_threads_macos.c). */
#ifndef ARGUS_HOOKS_OTHER_THREADS_H
#define ARGUS_HOOKS_OTHER_THREADS_H

#include <stdbool.h>

struct threads_seen {
    unsigned count;    /* including this one; 0: unknown */
    bool blocks_traps; /* another thread blocks SIGTRAP */
};

struct threads_seen threads_look(void);

#endif
