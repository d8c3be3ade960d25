/* Ends the recording, with a last snapshot if a file is named. */
#include <time.h>

#include "plugin/commands/recording_command.h"

#define WATCHER_WAIT_NS 15000000000ull
#define BUSY_WAIT_NS    60000000000ull

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write what is in the ring to FILE first"},
    NO_SYMBOLS_OPTION,
    COMMAND_OPTIONS_END,
};

static struct argus_error *stop_into(struct session *session, struct recorder_client *client,
                                     const char *path, bool with_names)
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
    return error ? error : recording_finish_file(session, path, &status, with_names);
}

/* Reports the end of a recording in memory or into a ring file. */
static struct argus_error *say_end(struct session *session, const struct recorder_status *status,
                                   bool with_names)
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
        return recording_finish(session, status->path, status, with_names);
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* If a user ends the recording because of a hang, the hang lasts on or has just ended, so it is not
 * in its file yet. A hang that lasts is written after HANG_REPORT_AFTER_NS. Returns whether the
 * recorder looks for hangs. */
static bool let_watcher_finish(struct session *session, struct recorder_client *client)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    struct recorder_status status = {0};
    uint64_t end_ns = now_ns() + WATCHER_WAIT_NS; /* a status may wait for a snapshot */
    struct argus_error *error = recorder_status(client, &status);
    bool is_watched = !error && status.hang_ms;
    if (!error && status.hangs_pending)
        session_note(session, "a hang is not in its file yet: waiting for it, for at most 15 s");
    while (!error && status.hangs_pending && now_ns() < end_ns) {
        nanosleep(&moment, NULL);
        if (session_interrupted(session))
            break;
        error = recorder_status(client, &status);
    }
    argus_error_destroy(error);
    return is_watched;
}

/* A snapshot of --on-hang may just be written, on a busy machine for long. A recording that looks
 * for hangs was begun by `argus start`, so it belongs to no other command, and BUSY means nothing
 * else. */
static struct argus_error *stop(struct session *session, struct recorder_client *client,
                                bool is_watched, struct recorder_status *ret)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    uint64_t end_ns = now_ns() + BUSY_WAIT_NS;
    struct argus_error *error = recorder_stop(client, -1, ret);
    if (is_watched && error && error->code == ARGUS_ERROR_BUSY)
        session_note(session,
                     "the recorder is writing a snapshot: waiting for it, for at most 60 s");
    while (is_watched && error && error->code == ARGUS_ERROR_BUSY && now_ns() < end_ns &&
           !session_interrupted(session)) {
        argus_error_destroy(error);
        nanosleep(&moment, NULL);
        error = recorder_stop(client, -1, ret);
    }
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    struct recorder_status status = {0};
    const char *path = arguments_option(arguments, "output");
    bool with_names = !arguments_has(arguments, "no-symbols");
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    recording_warn_missed(session, client);
    bool is_watched = let_watcher_finish(session, client);
    error = path ? stop_into(session, client, path, with_names)
                 : stop(session, client, is_watched, &status);
    recorder_close(client);
    return error || path ? error : say_end(session, &status, with_names);
}

const struct command command_stop = {
    .name = "stop",
    .summary = "end the recording that argus start began",
    .details = "Without -o, the contents of a ring in memory are dropped. If FILE cannot be\n"
               "written, the recording continues, so that nothing is lost.",
    .example = "argus stop -o freeze.argus\nargus stop",
    .options = options,
    .run = run,
};
