/* Finds LLDB, the plugin and other files of the installation. */
#ifndef ARGUS_PLUGIN_PATHS_H
#define ARGUS_PLUGIN_PATHS_H

#include "argus/error.h"

/* The LLDB to start: $ARGUS_LLDB, `lldb` in PATH, or the newest versioned one there. The caller
 * frees it. */
struct argus_error *paths_find_lldb(char **ret);

/* libargus.so: $ARGUS_PLUGIN, or its place relative to this program in a build (../lib) or an
 * installation (../lib/argus and similar). Absolute; the caller frees it. */
struct argus_error *paths_find_plugin(char **ret);

/* The table of probes, probes.conf: $ARGUS_PROBES, or ../share/argus from this program. The caller
 * frees it. */
struct argus_error *paths_find_probes(char **ret);

/* Replaces the ~ of "~/x" by the home folder. A shell does this itself, but LLDB does not, nor does
 * bash in --output=~/x. NULL without memory; the caller frees it. */
char *paths_expand_home(const char *path);

/* $XDG_CACHE_HOME/argus, or ~/.cache/argus. NULL: the user has no home folder. The caller frees
 * it. */
char *paths_cache_directory(void);
/* $XDG_DATA_HOME/argus, or ~/.local/share/argus; otherwise the same. */
char *paths_data_directory(void);

/* argus-import: $ARGUS_IMPORT, beside this program, or in PATH (inside LLDB, this program is the
 * debugger). NULL: there is none. The caller frees it. */
char *paths_find_importer(void);

/* Makes a directory and its missing parents, for the user alone. There is no error: if it fails,
 * creating a file there will fail. */
void paths_make_directories(const char *path);

#endif
