/* dyld's shared cache, in which macOS keeps the system's libraries instead of files: its files, and
 * the symbols of one library (Apple's <mach-o/dyld_cache_format.h>, dyld-1378).
 *
 * A cache is a main file and up to some tens of further files, which the main file names. Names of
 * local functions may be in one more file, ".symbols", which not every system has; without it, such
 * a function has no name. The files are not trusted: every offset and length is checked. 64-bit
 * caches only. */
#ifndef ARGUS_EVENT_DYLD_CACHE_H
#define ARGUS_EVENT_DYLD_CACHE_H

#include "event/binary/macho.h"

struct dyld_cache;

/* Opens the cache whose main file is `path`. A further file that is missing or belongs to another
 * cache is an error; a missing file of local symbols is not. */
struct argus_error *dyld_cache_open(const char *path, struct dyld_cache **ret);
void dyld_cache_close(struct dyld_cache *cache);

/* Threads may do this at the same time. The library with this UUID; its offsets are distances from
 * its header, as in a trace. `*ret` is NULL if the cache has no such library. The caller closes it
 * before the cache. */
struct argus_error *dyld_cache_image(const struct dyld_cache *cache,
                                     const uint8_t uuid[MACHO_UUID_BYTES], struct macho **ret);

#endif
