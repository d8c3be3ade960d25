/* Is a recording on, since when, and how full is it? */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/commands/recording_command.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static const char *mode_name(enum recorder_mode mode)
{
    return mode == RECORDER_MEMORY ? "memory" : mode == RECORDER_STREAM ? "stream" : "idle";
}

static json_t *notes_json(const char *notes)
{
    json_t *json = json_array();
    while (*notes) {
        size_t length = strcspn(notes, "\n");
        json_array_append_new(json, json_stringn(notes, length));
        notes += length;
        notes += *notes == '\n';
    }
    return json;
}

static struct argus_error *print_json(struct session *session, const struct recorder_status *status,
                                      const char *notes)
{
    return json_output(
        session,
        json_pack("{s:b, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
                  "recording", status->mode != RECORDER_IDLE, "mode", mode_name(status->mode),
                  "starter_uid", (json_int_t)status->starter_uid, "starter_pid",
                  (json_int_t)status->starter_pid, "recorder_pid", (json_int_t)status->recorder_pid,
                  "cpus", (json_int_t)status->cpu_count, "started_wall_ns",
                  (json_int_t)status->started_wall_ns, "duration_ns",
                  (json_int_t)status->duration_ns, "ring_bytes", (json_int_t)status->ring_bytes,
                  "records", (json_int_t)status->records, "emitted", (json_int_t)status->emitted,
                  "lost", (json_int_t)status->lost, "stacks_lost", (json_int_t)status->stacks_lost,
                  "own_cpu_ns", (json_int_t)status->own_cpu_ns, "notes", notes_json(notes)));
}

static void print_text(struct session *session, const struct recorder_status *status,
                       const char *notes)
{
    char since[32];
    time_t seconds = (time_t)(status->started_wall_ns / 1000000000u);
    struct tm local;
    if (status->mode == RECORDER_IDLE) {
        session_printf(session, "not recording\n");
        return;
    }
    localtime_r(&seconds, &local);
    strftime(since, sizeof(since), "%F %H:%M:%S", &local);
    session_printf(session, "recording  since %s (%.1f s), started by uid %u, pid %d\n", since,
                   (double)status->duration_ns / 1e9, status->starter_uid, status->starter_pid);
    session_printf(session, "mode       %s, ring of %llu MB on %u cpus\n",
                   status->mode == RECORDER_MEMORY ? "ring in memory" : "stream to a file",
                   (unsigned long long)(status->ring_bytes >> 20), status->cpu_count);
    session_printf(session, "records    %llu kept of %llu, %llu lost, %llu stacks lost\n",
                   (unsigned long long)status->records, (unsigned long long)status->emitted,
                   (unsigned long long)status->lost, (unsigned long long)status->stacks_lost);
    session_printf(session, "recorder   pid %d, %.3f s of cpu time\n", status->recorder_pid,
                   (double)status->own_cpu_ns / 1e9);
    for (const char *line = notes; *line;) {
        int length = (int)strcspn(line, "\n");
        session_printf(session, "note       %.*s\n", length, line);
        line += length;
        line += *line == '\n';
    }
}

/* No recorder is an answer, not a failure. */
static struct argus_error *ask(struct recorder_status *ret, char **ret_notes)
{
    struct recorder_client *client;
    struct argus_error *error = recorder_connect(&client);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        argus_error_destroy(error);
        *ret = (struct recorder_status){.mode = RECORDER_IDLE};
        *ret_notes = calloc(1, 1);
        return *ret_notes ? NULL : argus_error_memory();
    }
    if (error)
        return error;
    error = recorder_status(client, ret);
    if (!error)
        error = recorder_notes(client, ret_notes);
    recorder_close(client);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_status status = {0};
    char *notes = NULL;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = ask(&status, &notes);
    if (error)
        return error;
    if (arguments_has(arguments, "json"))
        error = print_json(session, &status, notes);
    else
        print_text(session, &status, notes);
    free(notes);
    return error;
}

const struct command command_status = {
    .name = "status",
    .summary = "say whether a recording is on, since when and how full it is",
    .details = "In memory mode \"kept\" is what the ring holds, and \"of\" what it has seen.",
    .example = "argus status\nargus status --json",
    .options = options,
    .run = run,
};
