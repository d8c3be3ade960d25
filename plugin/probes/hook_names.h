/* The hooks of a library that argus-hook has made: their names, for the trace. */
#ifndef ARGUS_PLUGIN_HOOK_NAMES_H
#define ARGUS_PLUGIN_HOOK_NAMES_H

#include "recorder/client.h"

/* Tells the recorder, before recorder_start(), what the hooks of the library at `path` are called. An error: it is no
 * such library. */
struct argus_error *hook_names_send(struct recorder_client *client, const char *path);

/* LD_PRELOAD with `libraries` (until NULL, at most `count`) before what it was; for free(). NULL: there are none, or no memory. */
char *hook_preload(const char *const *libraries, size_t count);

#endif
