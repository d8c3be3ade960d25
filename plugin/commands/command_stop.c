/* Ends the flight recorder, with a last snapshot if a file is named. */
#include "plugin/commands/recording_command.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write what is in the ring to FILE first"},
    COMMAND_OPTIONS_END,
};

static struct argus_error *stop_into(struct session *session, struct recorder_client *client,
                                     const char *path)
{
    struct output output;
    struct recorder_status status = {0};
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    error = recorder_stop(client, output.fd, &status);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    if (!error)
        recording_finish_file(session, path, &status);
    return error;
}

/* Of a recording in memory or into a ring file. */
static struct argus_error *say_end(struct session *session, const struct recorder_status *status)
{
    double seconds = (double)status->duration_ns / 1e9;
    if (status->mode == RECORDER_IDLE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "nothing is being recorded: argus start");
    if (status->mode == RECORDER_MEMORY && status->hang_ms)
        session_note(session, "stopped after %.1f s: hangs: %u seen, %u kept as files", seconds,
                     status->hangs_seen, status->hang_files);
    else if (status->mode == RECORDER_MEMORY)
        session_note(session,
                     "stopped after %.1f s; nothing was written (argus stop -o FILE keeps what is "
                     "in the ring)",
                     seconds);
    else
        return recording_finish(session, status->path, status);
    return NULL;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    struct recorder_status status = {0};
    const char *path = arguments_option(arguments, "output");
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    recording_warn_missed(session, client);
    error = path ? stop_into(session, client, path) : recorder_stop(client, -1, &status);
    recorder_close(client);
    return error || path ? error : say_end(session, &status);
}

const struct command command_stop = {
    .name = "stop",
    .summary = "end the recording that argus start began",
    .details = "Without -o what is in the ring in memory is dropped. When FILE cannot be\n"
               "written the recording goes on, so that nothing is lost.",
    .example = "argus stop -o freeze.argus\nargus stop",
    .options = options,
    .run = run,
};
