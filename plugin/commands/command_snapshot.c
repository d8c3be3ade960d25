/* Writes what the ring in memory holds, while the recording goes on. */
#include "plugin/commands/recording_command.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the trace to FILE"},
    COMMAND_OPTIONS_END,
};

static struct argus_error *snapshot(struct session *session, const char *path)
{
    struct recorder_client *client;
    struct recorder_status status = {0};
    struct output output;
    struct argus_error *error = recorder_connect(&client);
    if (error)
        return error;
    error = output_create(path, &output);
    if (!error) {
        recording_warn_missed(session, client);
        error = recorder_snapshot(client, output.fd, &status);
        if (!error)
            error = output_commit(&output);
        output_deinit(&output);
    }
    recorder_close(client);
    if (!error)
        recording_finish_file(session, path, &status);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    const char *path;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recording_output_path(arguments, &path);
    return error ? error : snapshot(session, path);
}

const struct command command_snapshot = {
    .name = "snapshot",
    .summary = "write what the ring in memory holds to a file, and go on recording",
    .details = "FILE belongs to you, mode 0600; a regular file of that name is replaced.",
    .example = "argus snapshot -o freeze.argus",
    .options = options,
    .run = run,
};
