/* Finds the files that may be traces below folders. */
#ifndef ARGUS_PLUGIN_FLEET_FILES_H
#define ARGUS_PLUGIN_FLEET_FILES_H

#include "argus/error.h"
#include "base/vec.h"

struct fleet_path {
    char *path; /* owned; of a file, or of a folder that is a trace (CTF) */
    /* name of the folder of the first level in which it is, as --machine-folders takes it; borrowed
     * from `path`; 0: it is in the named folder itself */
    size_t machine_at, machine_bytes;
    int64_t bytes, changed_ns;
};

struct fleet_paths {
    VEC(struct fleet_path) items; /* by path */
};

/* Adds a file, or the files below a folder. Hidden files, symbolic links below the folder, and what
 * Argus itself puts next to traces are left out. Errors: `path` cannot be read. */
struct argus_error *fleet_paths_add(struct fleet_paths *paths, const char *path);
void fleet_paths_sort(struct fleet_paths *paths);
void fleet_paths_deinit(struct fleet_paths *paths);

#endif
