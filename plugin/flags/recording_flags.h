/* The data flags of `start` and `record`: --flags FILE. */
#ifndef ARGUS_PLUGIN_RECORDING_FLAGS_H
#define ARGUS_PLUGIN_RECORDING_FLAGS_H

#include "plugin/command.h"
#include "recorder/client/client.h"

/* Reads the file and looks up every flag in its image, before anything is started. Errors name
 * file, line and reason. */
struct argus_error *recording_flags_choose(const struct arguments *arguments,
                                           struct recorder_options *ret);

/* Sends the flags to the recorder, which has been started. A refused flag is only a warning: the
 * recording continues. */
void recording_flags_send(struct session *session, struct recorder_client *client,
                          const struct recorder_options *chosen);

#endif
