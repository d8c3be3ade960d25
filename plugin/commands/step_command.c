#include "plugin/commands/step_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/flags/flag_place.h"

#define DEFAULT_STEPS      100000u
#define DEFAULT_SPIN_STEPS 10000u
#define DEFAULT_FOR_NS     30000000000u
#define DEFAULT_ARRIVE_NS  60000000000u
#define ANYWHERE_ARRIVE_NS 10000000000u

static bool is_vertex_word(const char *word)
{
    return word && word[0] == 'v' && word[1] && word[1 + strspn(word + 1, "0123456789")] == '\0';
}

/* Whether the words are "FILE V" or "V" (of the loaded trace); `*ret_next`: the first word of
 * CMD. */
static bool vertex_words(const struct arguments *arguments, size_t *ret_next)
{
    bool first = is_vertex_word(arguments_word(arguments, 0));
    bool second = is_vertex_word(arguments_word(arguments, 1));
    *ret_next = first ? 1 : second ? 2 : 0;
    return first || second;
}

/* --- patterns --- */

static struct argus_error *add_patterns(const struct arguments *arguments, const char *option,
                                        char *ret)
{
    const char *pattern;
    for (size_t i = 0; (pattern = arguments_option_at(arguments, option, i)); i++) {
        size_t length = strlen(ret);
        if (strchr(pattern, '\n') || snprintf(ret + length, STEP_PATTERN_BYTES - length, "%s\n",
                                              pattern) >= (int)(STEP_PATTERN_BYTES - length))
            return argus_error_create(ARGUS_ERROR_USAGE, "--%s: too many patterns, or too long",
                                      option);
    }
    return NULL;
}

static struct argus_error *read_patterns(struct step_command *command)
{
    struct step_request *request = &command->wanted.request;
    snprintf(request->skip, sizeof(request->skip), "%s", step_default_skip);
    struct argus_error *error = add_patterns(command->arguments, "skip", request->skip);
    return error ? error : add_patterns(command->arguments, "step-into", request->into);
}

/* --- the process to step --- */

/* Finds the program as execvp() would. */
static void find_program(const char *name, char *ret)
{
    const char *path = getenv("PATH");
    char candidate[PATH_MAX];
    ret[0] = '\0';
    if (strchr(name, '/')) {
        if (!realpath(name, ret))
            ret[0] = '\0';
        return;
    }
    for (path = path ? path : "/bin:/usr/bin"; *path; path += *path == ':') {
        size_t length = strcspn(path, ":");
        snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)length, path, name);
        path += length;
        if (access(candidate, X_OK) == 0 && realpath(candidate, ret))
            return;
    }
    ret[0] = '\0';
}

static struct argus_error *option_id(const struct arguments *arguments, const char *name,
                                     uint32_t *ret)
{
    uint64_t value;
    const char *text = arguments_option(arguments, name);
    *ret = 0;
    if (!text)
        return NULL;
    struct argus_error *error = flag_place_number("a process or thread id", text, &value);
    if (!error && (value == 0 || value > INT32_MAX))
        error = argus_error_create(ARGUS_ERROR_USAGE, "--%s: there is no %s", name, text);
    *ret = error ? 0 : (uint32_t)value;
    return error;
}

static struct argus_error *read_target(struct step_command *command, size_t next)
{
    const struct arguments *arguments = command->arguments;
    struct step_request *request = &command->wanted.request;
    struct argus_error *error = option_id(arguments, "process", &request->pid);
    if (!error)
        error = option_id(arguments, "thread", &request->tid);
    if (error)
        return error;
    bool has_program = arguments_count(arguments) > next;
    if (command->debugs && (has_program || request->pid || request->tid))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "inside LLDB the thread selected there is stepped: leave out "
                                  "--process, --thread and CMD");
    if (command->debugs)
        return NULL;
    if (has_program == (request->pid != 0))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "step needs a live run of the program: --process=PID or -- CMD%s",
                                  has_program ? ", and not both" : "");
    if (has_program && request->tid)
        return argus_error_create(ARGUS_ERROR_USAGE, "--thread needs a running process");
    command->target.pid = request->pid;
    if (!has_program)
        return NULL;
    command->wanted.argv = arguments_argv(arguments, next);
    find_program(command->wanted.argv[0], command->program);
    command->target.program = command->program;
    request->flags |= STEP_NEW_PROGRAM;
    return command->program[0] ? NULL
                               : argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                                    "cannot run %s: there is no such program",
                                                    command->wanted.argv[0]);
}

/* --- the place to begin --- */

static struct argus_error *take_vertex(struct step_command *command, size_t next)
{
    struct step_request *request = &command->wanted.request;
    struct analysis *analysis = &command->analysis;
    uint64_t frame = 0;
    struct argus_error *error =
        analysis_begin(command->session, command->arguments, 1, SIZE_MAX - 2, analysis);
    if (!error)
        error = analysis_vertex(analysis, arguments_word(command->arguments, next - 1),
                                &command->wanted.vertex);
    if (!error)
        error = arguments_number(command->arguments, "frame", &frame);
    if (!error)
        error = step_origin_find(analysis, command->wanted.vertex, frame,
                                 !arguments_has(command->arguments, "frame"), request->skip,
                                 request->into, &command->origin);
    if (error)
        return error;
    if (command->origin.passed)
        session_note(command->session,
                     "stepping begins in a caller of %s, %s (--frame 0 begins there)",
                     command->origin.passed_label,
                     command->origin.is_beginning_unknown ? "whose beginning is not known"
                                                          : "which is of the language's library");
    command->wanted.trace_identity = argus_trace_identity(analysis->trace->trace);
    command->wanted.trace = analysis->trace->path;
    command->spins = command->origin.spins;
    request->place = command->origin.place;
    request->wait = command->origin.wait;
    if (!request->tid && command->origin.comm[0])
        memcpy(request->comm, command->origin.comm, sizeof(request->comm));
    /* the main thread; of a new program, whichever thread comes first */
    else if (!request->tid)
        request->tid = request->pid;
    if (command->spins && request->pid)
        request->flags |= STEP_INSIDE_AS_WELL;
    snprintf(command->label, sizeof(command->label), "%s%s",
             command->origin.in_library ? "where it comes out of " : "", command->origin.label);
    if (command->origin.in_library) {
        request->flags = (request->flags | STEP_OUT_OF_LIBRARY) & ~(uint32_t)STEP_INSIDE_AS_WELL;
        session_note(command->session,
                     "the stack of v%u has no frame of the program's own code (no frame pointers): "
                     "stepping begins where the thread comes out of %s, and continues to --max",
                     command->wanted.vertex, command->origin.label);
    }
    if (command->origin.stale)
        session_warn(command->session,
                     "%s has changed since the trace was recorded: the place may be another one",
                     request->place.path);
    return NULL;
}

static struct argus_error *take_place(struct step_command *command)
{
    struct step_request *request = &command->wanted.request;
    const char *text = arguments_option(command->arguments, "function");
    if (command->debugs) {
        command->wanted.function = text;
        snprintf(command->label, sizeof(command->label), "%s", text);
        return NULL;
    }
    struct argus_error *error = step_place_parse(text, &command->target, &request->place);
    snprintf(command->label, sizeof(command->label), "%s", text);
    return error;
}

static struct argus_error *take_anywhere(struct step_command *command)
{
    struct step_request *request = &command->wanted.request;
    if (!request->tid && !command->debugs)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "step needs to know where: a trace and a vertex, --function, or "
                                  "--thread for where a thread is now");
    request->flags |= STEP_FROM_ANYWHERE;
    command->spins = true;
    snprintf(command->label, sizeof(command->label), "where the thread was");
    return NULL;
}

/* Treats the file that contains the place as the application's own, whatever the lists say. */
static struct argus_error *step_into_place(struct step_request *request)
{
    size_t length = strlen(request->into);
    const char *slash = strrchr(request->place.path, '/');
    if (!slash || request->flags & STEP_OUT_OF_LIBRARY ||
        step_patterns_stepped(request->skip, request->into, request->place.path))
        return NULL;
    int put = snprintf(request->into + length, sizeof(request->into) - length, "%s\n", slash + 1);
    return put < (int)(sizeof(request->into) - length)
               ? NULL
               : argus_error_create(ARGUS_ERROR_USAGE, "--step-into: too many patterns");
}

static struct argus_error *read_where(struct step_command *command, size_t next)
{
    bool has_function = arguments_has(command->arguments, "function");
    if (command->has_vertex && has_function)
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "a vertex and --function both say where to begin: give only one of them");
    struct argus_error *error = command->has_vertex ? take_vertex(command, next)
                                : has_function      ? take_place(command)
                                                    : take_anywhere(command);
    return error ? error : step_into_place(&command->wanted.request);
}

/* --- limits --- */

static struct argus_error *read_limits(struct step_command *command)
{
    struct step_request *request = &command->wanted.request;
    const struct arguments *arguments = command->arguments;
    uint32_t limit = command->debugs ? STEP_ENGINE_MOST : STEP_MOST_STEPS;
    uint64_t most = command->spins || command->debugs ? DEFAULT_SPIN_STEPS : DEFAULT_STEPS;
    const char *until = arguments_option(arguments, "until");
    bool anywhere = request->flags & STEP_FROM_ANYWHERE;
    request->arrive_ns = anywhere ? ANYWHERE_ARRIVE_NS : DEFAULT_ARRIVE_NS;
    request->duration_ns = DEFAULT_FOR_NS;
    struct argus_error *error = arguments_number(arguments, "max", &most);
    if (!error)
        error = arguments_duration_ns(arguments, "for", &request->duration_ns);
    if (!error)
        error = arguments_duration_ns(arguments, "wait", &request->arrive_ns);
    if (error)
        return error;
    if (most == 0 || most > limit)
        return argus_error_create(ARGUS_ERROR_USAGE, "--max: 1 to %u instructions%s", limit,
                                  command->debugs ? " inside LLDB, which makes some thousand a "
                                                    "second; the shell's 'argus step' is faster"
                                                  : "");
    if (until && strcmp(until, "return") != 0 && strcmp(until, "max") != 0)
        return argus_error_create(ARGUS_ERROR_USAGE, "--until: return or max, not '%s'", until);
    request->most_steps = (uint32_t)most;
    bool has_function = !(request->flags & (STEP_FROM_ANYWHERE | STEP_OUT_OF_LIBRARY));
    if (until ? strcmp(until, "return") == 0 : has_function)
        request->flags |= STEP_UNTIL_RETURN;
    if (until && strcmp(until, "max") == 0)
        memset(&request->wait, 0, sizeof(request->wait));
    return NULL;
}

/* --- the output file --- */

/* Never replaces an earlier run of the same vertex, because a bad run is to be compared with a good
 * one. */
static struct argus_error *choose_path(struct step_command *command)
{
    const char *given = arguments_option(command->arguments, "output");
    char stem[PATH_MAX - 32];
    if (given) {
        if ((size_t)snprintf(command->path, sizeof(command->path), "%s", given) >= PATH_MAX)
            return argus_error_os(ENAMETOOLONG, "%s", given);
        return NULL;
    }
    int length =
        command->has_vertex
            ? snprintf(stem, sizeof(stem), "%s.v%u", command->wanted.trace, command->wanted.vertex)
            : snprintf(stem, sizeof(stem), "argus-%u",
                       command->target.pid ? command->target.pid : (uint32_t)getpid());
    if (length >= (int)sizeof(stem))
        return argus_error_os(ENAMETOOLONG, "%s", command->wanted.trace);
    snprintf(command->path, sizeof(command->path), "%s.steps", stem);
    for (int i = 2; access(command->path, F_OK) == 0 && i < 1000; i++)
        snprintf(command->path, sizeof(command->path), "%s.%d.steps", stem, i);
    return NULL;
}

struct argus_error *step_command_prepare(struct step_command *command)
{
    size_t next;
    struct step_request *request = &command->wanted.request;
    command->has_vertex = vertex_words(command->arguments, &next);
    command->debugs = command->session->host.step != NULL;
    command->wanted.vertex = ARGUS_NONE;
    command->wanted.begin_text = command->label;
    command->wanted.registers = arguments_option(command->arguments, "registers");
    request->magic = STEP_MAGIC;
    request->version = STEP_VERSION;
    struct argus_error *error = read_patterns(command);
    if (!error)
        error = read_target(command, next);
    if (!error)
        error = read_where(command, next);
    if (!error)
        error = read_limits(command);
    return error ? error : choose_path(command);
}

struct argus_error *step_command_vertex(struct step_command *command)
{
    size_t next;
    if (!vertex_words(command->arguments, &next) || arguments_count(command->arguments) > next)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--script needs a vertex: argus step FILE V --script");
    struct argus_error *error = read_patterns(command);
    return error ? error : take_vertex(command, next);
}
