/* The shared cache that this process uses, which is that of all processes of its architecture until
 * the next boot. */
#ifndef ARGUS_EVENT_OWN_CACHE_H
#define ARGUS_EVENT_OWN_CACHE_H

#include "event/binary/dyld_cache.h"

/* Opened once, and open until the process ends. NULL: it cannot be read. */
const struct dyld_cache *own_cache(void);

#endif
