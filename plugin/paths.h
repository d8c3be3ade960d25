/* Where LLDB and the plugin are. */
#ifndef ARGUS_PLUGIN_PATHS_H
#define ARGUS_PLUGIN_PATHS_H

#include "argus/error.h"

/* The LLDB to start: $ARGUS_LLDB, `lldb` of PATH, or the newest versioned one there. The caller frees it. */
struct argus_error *paths_find_lldb(char **ret);

/* libargus.so: $ARGUS_PLUGIN, or found from this program's own place in a build (../lib) or an installation
 * (../lib/argus and the like). Absolute; the caller frees it. */
struct argus_error *paths_find_plugin(char **ret);

/* The table of probes, probes.conf: $ARGUS_PROBES, or ../share/argus from this program. The caller frees it. */
struct argus_error *paths_find_probes(char **ret);

/* `path` with the home folder for the ~ of "~/x". A shell replaces that itself, but LLDB does not, nor bash in
 * --output=~/x. NULL without memory; the caller frees it. */
char *paths_expand_home(const char *path);

/* Makes a directory and those above it that do not exist yet, for the user alone. What cannot be made shows when a file is put
 * there. */
void paths_make_directories(const char *path);

#endif
