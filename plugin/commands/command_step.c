/* Steps instruction by instruction through the code of a vertex, in a live run of the same
 * program. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/commands/step_command.h"
#include "plugin/commands/step_report.h"
#include "plugin/steps/step_script.h"
#include "recorder/client/output.h"

static const struct command_option options[] = {
    {"process", 0, "PID", "step this process instead of running CMD"},
    {"thread", 0, "TID", "step only this thread; alone: from where it is now"},
    {"function", 0, "PLACE", "step FUNCTION, IMAGE:FUNCTION, IMAGE+OFFSET or an address"},
    {"frame", 0, "N", "begin N callers above the vertex's own function"},
    {"until", 0, "return|max", "end at the return or the vertex's wait, or only at --max (return)"},
    {"max", 0, "N", "end after N instructions (100000; of a spin 10000)"},
    {"for", 0, "TIME", "end after TIME of stepping (30s)"},
    {"wait", 0, "TIME", "give up if no thread enters the function within TIME (60s)"},
    {"step-into", 0, "PATTERN", "step through files of this name; may be repeated"},
    {"skip", 0, "PATTERN", "step over files of this name; may be repeated"},
    {"registers", 0, "all|none|RANGE", "keep registers: all, none, or of 0x1000-0x2000 (all)"},
    {"script", 0, NULL, "only write LLDB commands to look at the vertex's code"},
    {"output", 'o', "FILE", "write the steps to FILE (TRACE.vN.steps)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* --- stepping --- */

static struct argus_error *step_into_file(struct step_command *command, struct child *child,
                                          struct step_outcome *ret)
{
    struct output output;
    struct argus_error *error = output_create(command->path, &output);
    if (error)
        return error;
    if (command->debugs)
        error = step_session_debug(command->session, &command->wanted, output.fd, ret);
    else
        error = step_session_run_apart(command->session, &command->wanted, &output, child, ret);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    return error;
}

/* After the stepping, the program continues; Ctrl-C is meant for it. */
static void wait_for_program(struct session *session, struct child *child)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    fflush(session->out);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    child_exit_code(child);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
}

static struct argus_error *step_program(struct step_command *command)
{
    struct child child;
    struct step_outcome outcome;
    struct argus_error *error = child_create(command->wanted.argv, &child);
    if (error)
        return error;
    command->wanted.request.pid = (uint32_t)child.pid;
    command->wanted.request.tid = command->wanted.request.comm[0] ? 0 : (uint32_t)child.pid;
    if (!command->has_vertex)
        command->wanted.request.tid = 0;
    error = step_into_file(command, &child, &outcome);
    if (!error)
        error = step_report(command->session, &outcome, command->label, command->path,
                            arguments_has(command->arguments, "json"));
    if (child.go_fd < 0)
        wait_for_program(command->session, &child);
    child_deinit(&child);
    return error;
}

static struct argus_error *step_process(struct step_command *command)
{
    struct step_outcome outcome;
    struct argus_error *error = step_into_file(command, NULL, &outcome);
    return error ? error
                 : step_report(command->session, &outcome, command->label, command->path,
                               arguments_has(command->arguments, "json"));
}

/* --- printing LLDB commands instead --- */

static struct argus_error *write_script(struct step_command *command)
{
    const char *path = arguments_option(command->arguments, "output");
    const struct analysis *analysis = &command->analysis;
    if (!path)
        return step_script_write(analysis, command->wanted.vertex, &command->origin,
                                 command->session->out);
    struct output output;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    FILE *out = fdopen(dup(output.fd), "w");
    error = out ? step_script_write(analysis, command->wanted.vertex, &command->origin, out)
                : argus_error_os(errno, "cannot write %s", path);
    if (out && fclose(out) != 0 && !error)
        error = argus_error_os(errno, "cannot write %s", path);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct step_command *command = calloc(1, sizeof(*command));
    if (!command)
        return argus_error_memory();
    command->session = session;
    command->arguments = arguments;
    bool is_script = arguments_has(arguments, "script");
    struct argus_error *error =
        is_script ? step_command_vertex(command) : step_command_prepare(command);
    if (!error && is_script)
        error = write_script(command);
    else if (!error)
        error = command->wanted.argv ? step_program(command) : step_process(command);
    free(command);
    return error;
}

const struct command command_step = {
    .name = "step",
    .arguments = "[[FILE] V] [-- CMD [ARG…]]",
    .summary = "trace the instructions of a vertex's code in a live run",
    .details = "Finds the function that vertex V of the trace FILE was in, in the process PID\n"
               "or in a new run of CMD. When a thread enters it (the main thread, or one of\n"
               "the same name), that thread is executed one instruction at a time, until the\n"
               "function returns or the vertex's wait is reached. Addresses, registers, calls\n"
               "with their arguments, and returns are written to a step file (argus-steps(5)),\n"
               "which 'argus diverge' reads.\n"
               "\n"
               "Calls into libraries (the C library, toolkits) are stepped over: only their\n"
               "arguments and results are recorded. Other threads keep running. The process is\n"
               "left as it was, even if argus is killed.\n"
               "\n"
               "With --thread alone, a thread that is spinning now is stepped from where it\n"
               "is. One instruction takes about 20 to 40 us. Stepping needs the right to debug\n"
               "the process; if the user does not have it, argus-recorder does it as root\n"
               "(sudo).\n"
               "\n"
               "Inside LLDB, the thread selected there is stepped by LLDB, which takes most of\n"
               "the time: about twice as many instructions a second as 'thread step-inst',\n"
               "and at most 10000. While LLDB watches a variable, it takes five times as long.",
    .example = "argus step freeze.argus v1234 --process 4711 -o bad.steps\n"
               "argus step freeze.argus v1234 -o good.steps -- ./editor notes.txt\n"
               "argus step --process 4711 --thread 4711 -o spin.steps\n"
               "argus step --process 4711 --function libfoo:wait_for_reply\n"
               "argus step freeze.argus v1234 --script -o look.lldb",
    .options = options,
    .flags = COMMAND_GRAPH | COMMAND_TRACE_OF_VERTEX,
    .run = run,
};
