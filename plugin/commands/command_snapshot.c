/* Writes the contents of the ring in memory, while the recording continues. */
#include "plugin/commands/recording_command.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the trace to FILE (argus.argus)"},
    NO_SYMBOLS_OPTION,
    COMMAND_OPTIONS_END,
};

/* `path` NULL: the default path. */
static struct argus_error *snapshot(struct session *session, const char *path, bool with_names)
{
    struct recorder_client *client;
    struct recorder_status status = {0};
    struct output output = {.fd = -1};
    struct argus_error *error = recorder_connect(&client);
    if (error)
        return error;
    error = recording_create_output(path, &output);
    if (!error) {
        recording_warn_missed(session, client);
        error = recorder_snapshot(client, output.fd, SNAPSHOT_PATIENCE_MS, &status);
        if (!error)
            error = output_commit(&output);
    }
    recorder_close(client);
    if (!error) {
        recording_note_replaced(session, &output);
        error = recording_finish_file(session, output.path, &status, with_names);
    }
    output_deinit(&output);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    const char *path = NULL;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error && arguments_has(arguments, "output"))
        error = recording_output_path(arguments, &path);
    return error ? error : snapshot(session, path, !arguments_has(arguments, "no-symbols"));
}

const struct command command_snapshot = {
    .name = "snapshot",
    .summary = "write what the ring in memory holds to a file, and keep recording",
    .details = "FILE belongs to you, mode 0600; a regular file of that name is replaced.\n"
               "Without -o the trace is argus.argus, which the other commands find by\n"
               "themselves. A trace of that name becomes argus.argus.old.",
    .example = "argus snapshot && argus diagnose\n"
               "argus snapshot -o freeze.argus",
    .options = options,
    .run = run,
};
