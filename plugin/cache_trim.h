/* Bounds the folders of the user's cache ($XDG_CACHE_HOME/argus, ~/.cache/argus). */
#ifndef ARGUS_PLUGIN_CACHE_TRIM_H
#define ARGUS_PLUGIN_CACHE_TRIM_H

#include <stdint.h>

/* Deletes the oldest files in `path` whose names end in `suffix`, until all of them together have
 * at most `most_bytes`. Folders below it are left alone. Without the folder, nothing happens. */
void cache_trim(const char *path, const char *suffix, uint64_t most_bytes);

#endif
