/* Records the whole system while one command runs. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "argus/recorded_command.h"
#include "plugin/commands/recording_command.h"
#include "plugin/probes/hook_names.h"
#include "recorder/client/child.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the trace to FILE (argus.argus)"},
    {"ring-size", 0, "SIZE", "limit FILE to SIZE: it then keeps only the newest records"},
    {"buffer", 0, "SIZE", "use SIZE of memory for records that are not yet in FILE (256M)"},
    RECORDING_OPTIONS,
    NO_SYMBOLS_OPTION,
    COMMAND_OPTIONS_END,
};

/* While CMD runs, Ctrl-C is meant for CMD, which is in our process group and gets the signal from
 * the terminal. */
struct ignored_signals {
    struct sigaction interrupt, quit;
};

static void signals_ignore(struct ignored_signals *ret)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &ret->interrupt);
    sigaction(SIGQUIT, &ignore, &ret->quit);
}

static void signals_restore(const struct ignored_signals *saved)
{
    sigaction(SIGINT, &saved->interrupt, NULL);
    sigaction(SIGQUIT, &saved->quit, NULL);
}

/* Waits until the child ends. If the recorder fails before that, reports it and continues to wait.
 * The file gets its name as soon as the child runs, so that it exists even if this process is
 * killed. */
static struct argus_error *run_child(struct session *session, struct child *child, const char *name,
                                     struct recorder_client *client, struct output *output,
                                     int *ret_code)
{
    struct ignored_signals saved;
    signals_ignore(&saved);
    struct argus_error *error = child_go(child, name);
    if (!error)
        error = output_commit(output);
    if (!error && !child_wait(child, recorder_poll_fd(client)))
        session_warn(session, "the recording ended early; %s continues", name);
    if (!error)
        *ret_code = child_exit_code(child);
    signals_restore(&saved);
    return error;
}

/* 'argus contexts' looks at the command's processes. */
static void note_command(struct session *session, const char *path, pid_t pid)
{
    struct argus_error *error = argus_recorded_command_append(path, (uint64_t)pid);
    if (error)
        session_warn(session, "%s does not say which command was recorded: %s", path,
                     error->message);
    argus_error_destroy(error);
}

static struct argus_error *record_child(struct session *session, struct child *child,
                                        const char *name, struct recorder_client *client,
                                        const struct recorder_options *chosen,
                                        struct output *output, bool with_names)
{
    struct recorder_status status = {0};
    int code = 0;
    pid_t pid = child->pid; /* until it is reaped */
    struct argus_error *error = recording_begin(session, client, chosen, output->fd, &status);
    if (error)
        return error;
    error = run_child(session, child, name, client, output, &code);
    if (!error) {
        recording_warn_missed(session, client);
        error = recorder_stop(client, -1, &status);
    }
    /* this closes the connection, which ends the recording */
    if (error)
        return error;
    if (code != 0)
        session_set_exit_code(session, code);
    recording_note_replaced(session, output);
    if (output_follow(output))
        session_note(session, "the trace was moved to %s", output->path);
    error = recording_finish(session, output->path, &status, with_names);
    if (!error)
        note_command(session, output->path, pid);
    return error;
}

/* Only the recorded program gets the hooks of --hooks. */
static struct argus_error *create_child(const struct recorder_options *chosen, char *const *argv,
                                        struct child *ret)
{
    char *preload = hook_preload(chosen->hook_libraries, RECORDER_PROBE_TABLES);
    const char *present = getenv("LD_PRELOAD");
    char *before = present ? strdup(present) : NULL;
    if (preload)
        setenv("LD_PRELOAD", preload, 1);
    struct argus_error *error = child_create(argv, ret);
    if (preload && before)
        setenv("LD_PRELOAD", before, 1);
    else if (preload)
        unsetenv("LD_PRELOAD");
    free(before);
    free(preload);
    return error;
}

/* `path` NULL: the default path. */
static struct argus_error *record(struct session *session, const char *path,
                                  const struct recorder_options *chosen, char *const *argv,
                                  bool with_names)
{
    struct child child;
    struct output output;
    struct recorder_client *client;
    struct argus_error *error = create_child(chosen, argv, &child);
    if (error)
        return error;
    error = recording_create_output(path, &output);
    if (!error) {
        error = recorder_launch(&client);
        if (!error) {
            error = record_child(session, &child, argv[0], client, chosen, &output, with_names);
            recorder_close(client);
        }
        output_deinit(&output);
    }
    child_deinit(&child);
    return error;
}

static struct argus_error *size_options(const struct arguments *arguments,
                                        struct recorder_options *ret)
{
    if (arguments_has(arguments, "ring-size"))
        ret->mode = RECORDER_RING;
    struct argus_error *error = arguments_size_bytes(arguments, "ring-size", &ret->file_ring_bytes);
    return error ? error : arguments_size_bytes(arguments, "buffer", &ret->ring_bytes);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_options chosen = RECORDER_OPTIONS_STREAM;
    const char *path = NULL;
    struct argus_error *error =
        arguments_has(arguments, "output") ? recording_output_path(arguments, &path) : NULL;
    if (!error)
        error = size_options(arguments, &chosen);
    if (!error)
        error = recording_options(session, arguments, &chosen);
    if (!error)
        error = arguments_expect(arguments, 1, SIZE_MAX);
    if (error)
        return error;
    chosen.program = arguments_word(arguments, 0);
    return record(session, path, &chosen, arguments_argv(arguments, 0),
                  !arguments_has(arguments, "no-symbols"));
}

const struct command command_record = {
    .name = "record",
    .arguments = "-- CMD [ARG…]",
    .missing = "CMD is missing: the program to record, e.g. argus record -- sleep 10",
    .summary = "record the whole system while CMD runs",
    .details = "CMD runs with your own rights; only argus-recorder is root. The exit code is\n"
               "that of CMD (128 + signal when one ended it), or 1 when the recording failed.\n"
               "Ctrl-C goes to CMD, and the trace is ended properly.\n"
               "\n"
               "Without -o the trace is argus.argus, which the other commands find by\n"
               "themselves. A trace of that name becomes argus.argus.old, in the place of an\n"
               "older one; a FILE of -o is replaced.",
    .example = "argus record -- gedit notes.txt && argus diagnose\n"
               "argus record -o freeze.argus -- gedit notes.txt\n"
               "argus record -o freeze.argus -- sleep 10",
    .options = options,
    .flags = COMMAND_SHELL | COMMAND_PROGRAM,
    .run = run,
};
