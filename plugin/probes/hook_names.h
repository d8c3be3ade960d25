/* The names of the hooks in a library made by argus-hook, for the trace. */
#ifndef ARGUS_PLUGIN_HOOK_NAMES_H
#define ARGUS_PLUGIN_HOOK_NAMES_H

#include "recorder/client/client.h"

/* Sends the names of the hooks in the library at `path` to the recorder, before recorder_start().
 * Fails if it is no such library. */
struct argus_error *hook_names_send(struct recorder_client *client, const char *path);

/* The value of LD_PRELOAD: `libraries` (up to NULL, at most `count`), then the previous value; for
 * free(). NULL: no libraries, or no memory. */
char *hook_preload(const char *const *libraries, size_t count);

#endif
