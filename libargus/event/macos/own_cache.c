#include "event/macos/own_cache.h"

#include <pthread.h>

/* <mach-o/dyld_priv.h> of dyld-1378, which SDKs lack; libSystem exports it. */
extern const char *dyld_shared_cache_file_path(void);

static struct dyld_cache *cache;

static void open_cache(void)
{
    const char *path = dyld_shared_cache_file_path();
    if (path)
        argus_error_destroy(dyld_cache_open(path, &cache));
}

const struct dyld_cache *own_cache(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_cache);
    return cache;
}
