/* The probes of `start` and `record`: --probes, --no-probes, and our own table. */
#ifndef ARGUS_PLUGIN_RECORDING_PROBES_H
#define ARGUS_PLUGIN_RECORDING_PROBES_H

#include "plugin/command.h"
#include "recorder/client/client.h"

/* Reads the options. A mistake in a table is an error here, before anything is started. */
struct argus_error *recording_probes_choose(struct session *session,
                                            const struct arguments *arguments,
                                            struct recorder_options *ret);

/* Sends the places to probe, if any are wanted, to the recorder, before recorder_start(). */
struct argus_error *recording_probes_send(struct session *session, struct recorder_client *client,
                                          const struct recorder_options *chosen);

#endif
