/* A process that hangs now need not be recorded twice. A recording of a moment shows the loop, and
 * the program's code tells its variable (libargus/steps/loops/). While the recording continues,
 * that variable is watched, until a thread writes it or the time is over. The trace then has both
 * parts.
 *
 * A recording into memory that goes on already (argus start) is used: it also has what was before
 * the hang. It continues afterwards, without the flags that were added.
 */
#include "plugin/commands/diagnose_live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "argus/diagnose.h"
#include "argus/unwind.h"
#include "plugin/analysis.h"
#include "plugin/commands/live_watch.h"
#include "plugin/commands/recording_command.h"

enum {
    LOOK_MS = 1500,  /* the first part: some hundred turns of a loop, or samples of it */
    STEP_MS = 50,    /* between two looks at the flags */
    AFTER_MS = 1000, /* that a loop needs to see the write, and go on */
    DEFAULT_WAIT_MS = 5000,
};

struct live {
    struct session *session;
    const struct arguments *arguments;
    struct recorder_client *client;
    bool is_own; /* the recording ends with this command */
    uint64_t pid;
    uint64_t wait_ns;
    const char *path;
    struct argus_snapshot_key key; /* of the first part's file */
    struct live_watch watch;
};

/* --- options --- */

struct argus_error *diagnose_live_is_meant(const struct session *session,
                                           const struct arguments *arguments, bool *ret)
{
    static const char *const others[] = {"hang", "process", "pid", "time", "with", "answers"};
    *ret = arguments_has(arguments, "live");
    if (!*ret && (arguments_has(arguments, "wait") || arguments_has(arguments, "output")))
        return argus_error_create(ARGUS_ERROR_USAGE, "--wait and --output go with --live PID");
    if (!*ret)
        return NULL;
    if (session->in_lldb)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--live works only in the shell: the debugger has stopped its "
                                  "process, which cannot spin");
    if (arguments_count(arguments))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "--live records its own trace: leave out '%s'; -o FILE says where "
            "the trace is written",
            arguments_word(arguments, 0));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (arguments_has(arguments, others[i]))
            return argus_error_create(ARGUS_ERROR_USAGE, "--live and --%s contradict", others[i]);
    return NULL;
}

static struct argus_error *check_process(uint64_t pid)
{
    if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "--live: there is no process %llu",
                                  (unsigned long long)pid);
    if (kill((pid_t)pid, 0) < 0)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "process %llu belongs to another user, so its variables cannot "
                                  "be watched: run argus with sudo",
                                  (unsigned long long)pid);
    return NULL;
}

/* Also if nobody has waited for it yet. */
static bool has_ended(uint64_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    char line[512] = "";
    const char *name_end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    if (name_end && name_end[1])
        state = name_end[2];
    fclose(file);
    return state == 'Z' || state == 'X';
}

static struct argus_error *pause_ms(const struct live *live, unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
    return session_interrupted(live->session) ? session_interrupt_error() : NULL;
}

/* --- the recording --- */

/* One that goes on in memory is used. `busy`: says who records; ownership passes. */
static struct argus_error *join_recording(struct live *live, struct argus_error *busy)
{
    struct recorder_status status = {0};
    struct argus_error *error = recorder_connect(&live->client);
    if (!error)
        error = recorder_status(live->client, &status);
    if (!error && status.mode == RECORDER_MEMORY) {
        argus_error_destroy(busy);
        session_note(live->session, "using the recording that goes on: its ring has what was "
                                    "before, too");
        return NULL;
    }
    argus_error_destroy(error);
    return busy;
}

static struct argus_error *begin_recording(struct live *live)
{
    struct recorder_status status = {0};
    struct recorder_options chosen = RECORDER_OPTIONS_MEMORY;
    chosen.owned = true;
    struct argus_error *error = recording_options(live->session, live->arguments, &chosen);
    if (error)
        return error;
    error = recorder_launch(&live->client);
    if (error && error->code == ARGUS_ERROR_BUSY)
        return join_recording(live, error);
    live->is_own = true;
    return error ? error : recording_begin(live->session, live->client, &chosen, -1, &status);
}

/* Writes what the ring has. `is_last` ends a recording of this command. */
static struct argus_error *write_trace(struct live *live, struct output *output, bool is_last)
{
    struct recorder_status status = {0};
    struct argus_error *error =
        is_last && live->is_own
            ? recorder_stop(live->client, output->fd, &status)
            : recorder_snapshot(live->client, output->fd, SNAPSHOT_PATIENCE_MS, &status);
    if (!error)
        error = output_commit(output);
    if (error)
        return error;
    live->key = status.key;
    recording_note_replaced(live->session, output);
    return is_last ? recording_finish_file(live->session, output->path, &status, true) : NULL;
}

/* --- the loop --- */

/* The loops of the process's longest run, wait or yield in the trace. */
static struct argus_error *find_variables(struct live *live)
{
    struct analysis analysis;
    struct argus_hangs hangs;
    struct argus_diagnosis diagnosis;
    const struct argus_diagnose_options options = {.threshold_ns = 0};
    bool no_cache = live->session->no_cache;
    live->session->no_cache = true;
    struct argus_error *error = argus_unwind_file(live->path, &live->key, NULL, NULL, NULL);
    argus_snapshot_key_forget(&live->key);
    if (!error)
        error = analysis_begin_file(live->session, live->arguments, live->path, &analysis);
    live->session->no_cache = no_cache;
    if (error)
        return error;
    struct argus_hang_options wanted = {.pid = live->pid,
                                        .threshold_ns = LOOK_MS / 2 * 1000000ull,
                                        .at_least_one = true,
                                        .symbols = analysis.report.symbols};
    error = arguments_number(live->arguments, "tid", &wanted.tid);
    if (!error)
        error = argus_hangs_find(analysis.graph, &wanted, &hangs);
    if (error)
        return error;
    for (size_t i = 0; !error && i < hangs.count && !live->watch.count; i++) {
        error = argus_diagnose(analysis.graph, analysis.report.symbols, &hangs.items[i], &options,
                               argus_asker_auto(), &diagnosis);
        if (error)
            break;
        error = live_watch_keep(&live->watch, &diagnosis);
        argus_diagnosis_deinit(&diagnosis);
    }
    argus_hangs_deinit(&hangs);
    return error;
}

/* --- watching --- */

static void say_watched(const struct live *live, const struct live_variable *watched,
                        const struct argus_error *error)
{
    unsigned long long pid = watched->variable.watch_pid;
    if (error)
        session_warn(live->session, "%s of process %llu cannot be watched: %s", watched->said, pid,
                     error->message);
    else
        session_note(live->session,
                     "watching %s of process %llu, for which the loop waits by its code, for "
                     "at most %.3g s",
                     watched->said, pid, (double)live->wait_ns / 1e9);
}

static struct argus_error *watch(struct live *live, struct live_variable *watched)
{
    struct request_flag wanted;
    struct argus_error *error = live_watch_find(&live->watch, watched, &wanted);
    return error ? error : recorder_flag_add(live->client, &wanted, &watched->number);
}

/* Only Ctrl-C is an error. */
static struct argus_error *watch_all(struct live *live)
{
    for (uint32_t i = 0; i < live->watch.count; i++) {
        struct live_variable *watched = &live->watch.all[i];
        struct argus_error *error = watch(live, watched);
        if (error && error->code == ARGUS_ERROR_INTERRUPTED)
            return error;
        say_watched(live, watched, error);
        argus_error_destroy(error);
    }
    if (!live->watch.count)
        session_warn(live->session,
                     "no variable to watch: process %llu does not poll, or its code does not tell "
                     "for what",
                     (unsigned long long)live->pid);
    return NULL;
}

static uint32_t count_watched(const struct live *live)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < live->watch.count; i++)
        count += live->watch.all[i].number != 0;
    return count;
}

/* Whether one of the variables was written. */
static struct argus_error *look_for_writes(struct live *live, bool *ret)
{
    struct reply_flag flags[FLAG_NUMBERS];
    size_t count = 0;
    struct argus_error *error = recorder_flags(live->client, flags, &count);
    for (size_t i = 0; !error && i < count; i++)
        for (uint32_t k = 0; k < live->watch.count; k++)
            if (live->watch.all[k].number == flags[i].number && flags[i].writes) {
                live->watch.all[k].is_written = true;
                *ret = true;
            }
    return error;
}

static void say_result(const struct live *live, bool is_written, bool ended)
{
    for (uint32_t i = 0; i < live->watch.count; i++)
        if (live->watch.all[i].is_written)
            session_note(live->session, "%s was written", live->watch.all[i].said);
    if (!is_written && ended)
        session_warn(live->session, "process %llu ended, and no thread had written the variable",
                     (unsigned long long)live->pid);
    else if (!is_written)
        session_note(live->session, "no thread wrote the variable in %.3g s",
                     (double)live->wait_ns / 1e9);
}

static struct argus_error *wait_for_write(struct live *live)
{
    bool is_written = false, ended = false;
    struct argus_error *error = NULL;
    uint64_t waited_ns = 0;
    while (!error && !is_written && !ended && waited_ns < live->wait_ns) {
        error = pause_ms(live, STEP_MS);
        waited_ns += STEP_MS * 1000000ull;
        session_progress(live->session, "waiting for a write", waited_ns, live->wait_ns);
        ended = has_ended(live->pid);
        if (!error) /* a process that has ended may have written first */
            error = look_for_writes(live, &is_written);
    }
    if (!error && is_written)
        error = pause_ms(live, AFTER_MS);
    session_end_progress(live->session);
    if (!error)
        say_result(live, is_written, ended);
    return error;
}

static void unwatch_all(struct live *live)
{
    for (uint32_t i = 0; i < live->watch.count; i++)
        if (live->watch.all[i].number && !live->is_own)
            argus_error_destroy(recorder_flag_remove(live->client, live->watch.all[i].number));
    live_watch_deinit(&live->watch);
}

/* --- all of it --- */

static struct argus_error *look(struct live *live, struct output *output)
{
    struct argus_error *error = pause_ms(live, LOOK_MS);
    if (!error && has_ended(live->pid))
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                   "process %llu ended before its loop "
                                   "could be read",
                                   (unsigned long long)live->pid);
    if (!error)
        error = write_trace(live, output, false);
    return error ? error : find_variables(live);
}

static struct argus_error *record(struct live *live, struct output *output)
{
    struct output again;
    struct argus_error *error = look(live, output);
    if (error)
        return error;
    error = watch_all(live);
    if (!error && count_watched(live))
        error = wait_for_write(live);
    if (!error)
        error = output_create(live->path, &again);
    if (error)
        return error;
    error = write_trace(live, &again, true);
    output_deinit(&again);
    return error;
}

struct argus_error *diagnose_live_record(struct session *session, const struct arguments *arguments,
                                         struct live_recording *ret)
{
    struct live live = {.session = session,
                        .arguments = arguments,
                        .wait_ns = DEFAULT_WAIT_MS * 1000000ull,
                        .watch = {.session = session}};
    struct output output;
    *ret = (struct live_recording){.path = NULL};
    struct argus_error *error = arguments_number(arguments, "live", &live.pid);
    if (!error)
        error = arguments_duration_ns(arguments, "wait", &live.wait_ns);
    if (!error)
        error = check_process(live.pid);
    if (!error)
        error = recording_create_output(arguments_option(arguments, "output"), &output);
    if (error)
        return error;
    live.path = output.path;
    error = begin_recording(&live);
    if (!error)
        error = record(&live, &output);
    unwatch_all(&live);
    recorder_close(live.client);
    ret->pid = live.pid;
    if (!error && !(ret->path = strdup(output.path)))
        error = argus_error_memory();
    output_deinit(&output);
    return error;
}
