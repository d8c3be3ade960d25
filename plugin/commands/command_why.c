#include <stdlib.h>

#include "argus/live.h"
#include "argus/report.h"
#include "plugin/commands/why_recording.h"

enum { SAMPLED_NS = 1000000000, MOST_ANSWERS = 8 };

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static bool write_out(void *context, const char *text, size_t bytes)
{
    struct session *session = context;
    return fwrite(text, 1, bytes, session->out) == bytes;
}

/* LLDB's process, running or stopped; 0: none, or this is a shell. */
static uint64_t debugged_pid(const struct session *session)
{
    return session->watches ? session->watches->selected_pid(session->host.data) : 0;
}

/* In LLDB, its process is meant; in a shell none (""). */
static struct argus_error *meant_process(const struct session *session,
                                         const struct arguments *arguments, char *ret, size_t bytes)
{
    const char *word = arguments_word(arguments, 0);
    uint64_t pid = word ? 0 : debugged_pid(session);
    if (word || !session->watches)
        snprintf(ret, bytes, "%s", word ? word : "");
    else if (pid)
        snprintf(ret, bytes, "%llu", (unsigned long long)pid);
    else
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "there is no process yet: run or attach first, or name a "
                                  "process (argus why PID)");
    return NULL;
}

static bool write_file(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

static struct argus_error *recorded(struct session *session, const struct arguments *arguments,
                                    const struct argus_live *live, uint32_t thread,
                                    const struct argus_sink *sink, bool json, bool *ret_written)
{
    const struct argus_live_thread *of = argus_live_thread_at(live, thread);
    uint32_t pid = argus_live_process_at(live, of->process)->pid;
    return why_recording_write(session, arguments, pid, of->tid, sink, json, ret_written);
}

/* One object: the recording's diagnosis is a member of it. */
static struct argus_error *report_json(struct session *session, const struct arguments *arguments,
                                       struct argus_live *live, uint32_t thread,
                                       const struct argus_live_answer *answer)
{
    struct argus_sink sink = {write_out, session, 0, false};
    char *text = NULL;
    size_t bytes = 0;
    bool is_written;
    FILE *file = open_memstream(&text, &bytes);
    if (!file)
        return argus_error_memory();
    struct argus_sink into = {write_file, file, 0, false};
    struct argus_error *error =
        recorded(session, arguments, live, thread, &into, true, &is_written);
    if (fclose(file) != 0 && !error)
        error = argus_error_memory();
    if (!error)
        error = argus_report_live(&sink, live, thread, answer, true, is_written ? text : NULL);
    free(text);
    return error;
}

/* The live state is there at once; a recording takes some seconds. */
static struct argus_error *report_text(struct session *session, const struct arguments *arguments,
                                       struct argus_live *live, uint32_t thread,
                                       const struct argus_live_answer *answer)
{
    struct argus_sink sink = {write_out, session, (int)session->width, session->colour};
    bool is_written;
    struct argus_error *error = argus_report_live(&sink, live, thread, answer, false, NULL);
    fflush(session->out);
    return error ? error : recorded(session, arguments, live, thread, &sink, false, &is_written);
}

static struct argus_error *walk(struct argus_live *live, const char *word, uint32_t *ret_thread,
                                struct argus_live_answer *ret)
{
    struct argus_error *error = argus_live_find(live, word, ret_thread);
    if (!error)
        error = argus_live_walk(live, *ret_thread, ret);
    if (error)
        return error;
    error = argus_live_look_closer(live, SAMPLED_NS, ret);
    if (error)
        argus_live_answer_deinit(ret);
    return error;
}

/* A thread that ran when it was looked at, but hardly did so in the second in which it was sampled:
 * it waits for something most of the time. */
static bool seldom_runs(const struct argus_live_answer *answer)
{
    const struct argus_live_samples *samples = answer->samples;
    return samples && answer->steps[answer->step_count - 1].wait.kind == ARGUS_LIVE_RUNS &&
           2 * (samples->ran_ns + samples->wanted_cpu_ns) < samples->elapsed_ns;
}

static struct argus_error *open_live(struct session *session, struct argus_live **ret)
{
    struct argus_error *error = argus_live_open(ret);
    if (!error) /* inside LLDB, its process may be stopped */
        argus_live_debugged(*ret, (uint32_t)debugged_pid(session));
    return error;
}

/* Walks, and once more if the first walk ended at a thread that only happened to run. */
static struct argus_error *answer(struct session *session, const struct arguments *arguments,
                                  struct argus_live **live, const char *word)
{
    struct argus_live_answer answer;
    uint32_t thread;
    struct argus_error *error = walk(*live, word, &thread, &answer);
    if (error)
        return error;
    if (seldom_runs(&answer)) {
        argus_live_answer_deinit(&answer);
        argus_live_close(*live);
        *live = NULL;
        error = open_live(session, live);
        if (!error)
            error = walk(*live, word, &thread, &answer);
        if (error)
            return error;
    }
    error = (arguments_has(arguments, "json") ? report_json : report_text)(session, arguments,
                                                                           *live, thread, &answer);
    argus_live_answer_deinit(&answer);
    return error;
}

/* Nobody said which process: the most suspicious ones, the first of them in full. */
static struct argus_error *look_around(struct session *session, struct argus_live *live, bool json)
{
    struct argus_sink sink = {write_out, session, (int)session->width, session->colour};
    struct argus_live_overview overview;
    struct argus_live_answer answers[MOST_ANSWERS];
    size_t count = 0;
    struct argus_error *error = argus_live_look_around(live, &overview);
    if (error)
        return error;
    while (!error && count < overview.thread_count && count < MOST_ANSWERS) {
        error = argus_live_walk(live, overview.threads[count], &answers[count]);
        count += !error;
    }
    if (!error && count)
        error = argus_live_look_closer(live, SAMPLED_NS, &answers[0]);
    if (!error)
        error = argus_report_live_all(&sink, live, &overview, answers, count, json);
    while (count > 0)
        argus_live_answer_deinit(&answers[--count]);
    argus_live_overview_deinit(&overview);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_live *live;
    char word[64];
    struct argus_error *error = arguments_expect(arguments, 0, 1);
    if (!error)
        error = meant_process(session, arguments, word, sizeof(word));
    if (!error)
        error = open_live(session, &live);
    if (error)
        return error;
    error = word[0] ? answer(session, arguments, &live, word)
                    : look_around(session, live, arguments_has(arguments, "json"));
    argus_live_close(live);
    return error;
}

const struct command command_why = {
    .name = "why",
    .arguments = "[PID|NAME]",
    .summary = "say why a process does not go on now, without a recording",
    .details = "Finds what the main thread waits for (or the thread, if PID is a thread's ID),\n"
               "who can end that wait, what that thread waits for, and so on across processes:\n"
               "to a thread that runs, sleeps, or waits for a device or a person, or to a\n"
               "deadlock. A thread that runs is sampled for a second. Reads /proc, the\n"
               "kernel's list of sockets, and the processes' memory, and asks D-Bus daemons\n"
               "for names. No process is stopped, except a running thread for moments where\n"
               "perf_event is not allowed. Processes of other users, and\n"
               "kernel.yama.ptrace_scope above 0, need sudo. What cannot be known is said.\n"
               "Without an argument: the window that does not answer its window manager's ping\n"
               "(X11), else main threads that do not move and wait for something.\n"
               "If 'argus start' records, the diagnosis of its recording follows after a few\n"
               "seconds.\n"
               "On macOS, libproc, registers and Mach ports tell the same; most of that needs\n"
               "sudo. It has never run on a Mac (docs/macos.md).\n"
               "Inside LLDB, the process is the debugger's if none is given, running or\n"
               "stopped.\n"
               "JSON: docs/schema/why.json; without an argument, docs/schema/why-all.json.",
    .example = "argus why\nargus why editor\nargus why 4711\nsudo argus why --json 4711",
    .options = options,
    .run = run,
};
