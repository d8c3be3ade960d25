/* Begins the flight recorder: the ring in memory, until `argus stop`. */
#include "plugin/commands/recording_command.h"

static const struct command_option options[] = {
    RECORDING_OPTIONS,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_options chosen = RECORDER_OPTIONS_MEMORY;
    struct recorder_client *client;
    struct recorder_status status = {0};
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recording_options(arguments, &chosen);
    if (!error)
        error = recorder_launch(&client);
    if (error)
        return error;
    error = recorder_start(client, &chosen, -1, &status);
    if (!error)
        error = recording_warn_notes(session, client);
    recorder_close(client);
    if (error)
        return error;
    session_printf(session,
                   "recording into a ring of %llu MB in memory (recorder: pid %d)\n"
                   "argus snapshot -o FILE  keeps what is in it; argus stop  ends it\n",
                   (unsigned long long)(status.ring_bytes >> 20), status.recorder_pid);
    return NULL;
}

const struct command command_start = {
    .name = "start",
    .summary = "begin to record the system into a ring in memory",
    .details = "The ring keeps the newest records and overwrites the oldest: leave it on, and\n"
               "take a snapshot after a freeze. Needs root, or sudo. One recording at a time.",
    .example = "argus start\nargus start --ring-size 1G --rate 0",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
