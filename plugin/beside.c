#include "plugin/beside.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"

/* ~/.cache/argus; NULL: the user has no home. */
static char *cache_directory(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *directory = NULL;
    bool made = cache && cache[0] == '/' ? asprintf(&directory, "%s/argus", cache) >= 0
                : home && home[0] == '/' ? asprintf(&directory, "%s/.cache/argus", home) >= 0
                                         : false;
    return made ? directory : NULL;
}

/* In the cache the name tells traces of one name in several folders apart. */
static char *path_in_cache(const char *directory, const char *trace_path, const char *suffix)
{
    char whole[PATH_MAX], *path;
    if (!directory || !realpath(trace_path, whole))
        return NULL;
    const char *slash = strrchr(whole, '/');
    uint64_t hash = hash64(0, whole, strlen(whole));
    int made = asprintf(&path, "%s/%.200s-%016" PRIx64 "%s", directory, slash + 1, hash, suffix);
    return made < 0 ? NULL : path;
}

void beside_init(struct beside *beside, const char *trace_path, const char *suffix)
{
    memset(beside, 0, sizeof(*beside));
    if (asprintf(&beside->path[BESIDE_TRACE], "%s%s", trace_path, suffix) < 0)
        beside->path[BESIDE_TRACE] = NULL;
    beside->directory = cache_directory();
    beside->path[BESIDE_IN_CACHE] = path_in_cache(beside->directory, trace_path, suffix);
}

void beside_deinit(struct beside *beside)
{
    for (int i = 0; i < BESIDE_PLACES; i++)
        free(beside->path[i]);
    free(beside->directory);
}
