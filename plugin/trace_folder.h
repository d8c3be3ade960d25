/* Folders that are one trace: those of the Common Trace Format. */
#ifndef ARGUS_PLUGIN_TRACE_FOLDER_H
#define ARGUS_PLUGIN_TRACE_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether the folder has a file "metadata" of CTF, or is what LTTng writes for a session: has such
 * folders in "kernel" or "ust", and no other traces beside them. `*ret`: status of one of these
 * files, which changes with the trace. */
bool trace_folder_is(const char *path, struct stat *ret);

#endif
