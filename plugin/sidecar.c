#include "plugin/sidecar.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "plugin/paths.h"

/* In the cache, a hash of the path distinguishes traces of the same name in different folders. */
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

void sidecar_init(struct sidecar *sidecar, const char *trace_path, const char *suffix)
{
    memset(sidecar, 0, sizeof(*sidecar));
    if (asprintf(&sidecar->path[SIDECAR_NEXT_TO_TRACE], "%s%s", trace_path, suffix) < 0)
        sidecar->path[SIDECAR_NEXT_TO_TRACE] = NULL;
    sidecar->directory = paths_cache_directory();
    sidecar->path[SIDECAR_IN_CACHE] = path_in_cache(sidecar->directory, trace_path, suffix);
}

void sidecar_deinit(struct sidecar *sidecar)
{
    for (int i = 0; i < SIDECAR_PLACES; i++)
        free(sidecar->path[i]);
    free(sidecar->directory);
}
