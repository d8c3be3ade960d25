/* The interpreters of this machine, sent to the recorder before it begins
 * (recorder/interpreter_spec.h). */
#ifndef ARGUS_PLUGIN_INTERPRETERS_H
#define ARGUS_PLUGIN_INTERPRETERS_H

#include "plugin/session.h"
#include "recorder/client/client.h"

/* Sends those that are installed where shells and the loader search, those that are running, and
 * that of `program` (NULL: none), the command that is to be recorded. */
struct argus_error *interpreters_send(struct recorder_client *client, const char *program);

#endif
