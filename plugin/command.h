/* The commands of Argus: one table for `argus …` in a shell and `argus …` in LLDB.
 *
 * A command is one file, plugin/commands/command_<name>.c, that includes "plugin/command.h" and defines one row:
 *
 *     static const struct command_option options[] = {
 *         {"output", 'o', "FILE", "write the trace to FILE"},
 *         COMMAND_OPTION_JSON,
 *         COMMAND_OPTIONS_END,
 *     };
 *     static struct argus_error *run(struct session *session, const struct arguments *arguments) { … }
 *     const struct command command_stop = {
 *         .name = "stop", .arguments = "[-o FILE]", .summary = "…", .example = "…", .options = options, .run = run,
 *     };
 *
 * and one line in plugin/commands.def. --help, the usage errors and the man page come from the row (docs/man_pages.py); what the page
 * says besides stands in docs/man/commands/argus-<name>.md.
 *
 * A command prints its result to session->out (plugin/session.h) and returns NULL, or an error, which decides
 * the exit code: ARGUS_ERROR_USAGE 2, ARGUS_ERROR_QUESTION 3, all others 1. A command must not keep anything in
 * static variables: LLDB may hold several sessions.
 */
#ifndef ARGUS_PLUGIN_COMMAND_H
#define ARGUS_PLUGIN_COMMAND_H

#include "plugin/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum exit_code {
    EXIT_CODE_DONE = 0,
    EXIT_CODE_FAILED = 1,
    EXIT_CODE_USAGE = 2,
    EXIT_CODE_QUESTION = 3,
    EXIT_CODE_DAMAGED = 4, /* done with what could be read, and said */
};

enum command_flags {
    COMMAND_SHELL = 1 << 0, /* exists only in the shell */
    COMMAND_LLDB = 1 << 1,  /* exists only in LLDB */
    COMMAND_TRACE =
        1
        << 2, /* reads a trace: takes FILE first; without it the newest here, in LLDB the loaded one */
    COMMAND_GRAPH = 1 << 4,           /* needs the graph: takes command_options_graph too */
    COMMAND_TRACE_NAMED = 1 << 5,     /* COMMAND_TRACE, and FILE is never chosen for the user */
    COMMAND_TRACE_OF_VERTEX = 1 << 6, /* reads a trace if its words begin with [FILE] V */
    COMMAND_PROGRAM =
        1 << 3, /* options end at the first word: what follows is another program's command line */
};

struct command_option {
    const char *name; /* without the dashes */
    char short_name;  /* 0: none */
    /* Its argument's name in the help, e.g. "FILE"; NULL: a switch. Values that stand for themselves are in small letters or
     * digits: "perfetto|dot", "all|none|RANGE"; shells complete them (completion_values.c). */
    const char *argument;
    const char *help; /* one line, no full stop */
};

#define COMMAND_OPTION_JSON                                                                        \
    {                                                                                              \
        "json", 0, NULL, "print one JSON object instead of text"                                   \
    }
#define COMMAND_OPTIONS_END                                                                        \
    {                                                                                              \
        NULL, 0, NULL, NULL                                                                        \
    }

struct arguments;
struct command;

#define ARGUS_COMMAND(name) extern const struct command command_##name;
#include "plugin/commands.def"
#undef ARGUS_COMMAND

struct command {
    const char *name; /* "info"; "graph show" for a command inside a group */
    const char *
        arguments; /* of the usage line, e.g. "V"; without options and without FILE of COMMAND_TRACE */
    const char *summary; /* one line, lower case, no full stop */
    const char *details; /* paragraphs for --help, lines of at most 78 columns; NULL: none */
    const char *missing; /* of a word that has to be there, what it is; NULL: none has to */
    const char *example; /* command lines, one each line, as typed in a shell */
    const struct command_option *options; /* ends with COMMAND_OPTIONS_END; NULL: only --help */
    unsigned flags;                       /* enum command_flags */
    struct argus_error *(*run)(struct session *session, const struct arguments *arguments);
};

/* --- what a command gets (plugin/arguments.c) --- */

/* Was the option given? `name` is its long name, one of the row's. */
bool arguments_has(const struct arguments *arguments, const char *name);
/* The argument of an option, NULL when it was not given. When it came more than once, the last. Borrowed. */
const char *arguments_option(const struct arguments *arguments, const char *name);
/* The same of the `index`th time that it was given, NULL behind the last. */
const char *arguments_option_at(const struct arguments *arguments, const char *name, size_t index);
/* The words that are not options, FILE of a COMMAND_TRACE command included. Borrowed. */
size_t arguments_count(const struct arguments *arguments);
/* The word `index`, NULL behind the last. */
const char *arguments_word(const struct arguments *arguments, size_t index);
/* The words as a NULL-terminated argv from word `index` on: the CMD of `record -- CMD…`. Borrowed. */
char *const *arguments_argv(const struct arguments *arguments, size_t index);
/* An error (ARGUS_ERROR_USAGE) unless the number of words lies between the two, inclusive. */
struct argus_error *arguments_expect(const struct arguments *arguments, size_t least, size_t most);

/* Writes "argus diagnose --process=gedit freeze.argus" as it was typed, quoted for a shell, but for the option `without`
 * (may be NULL). */
void arguments_write_line(const struct arguments *arguments, const char *without, FILE *out);

/* Options with a unit; `*ret` is untouched when the option was not given.
 * A number: "99". A size: "512M", "2G", "4096" (bytes; K, M, G are powers of 1024).
 * A duration: "2s", "150ms", "3us", "40ns", "1.5s"; a bare number is seconds. */
struct argus_error *arguments_number(const struct arguments *arguments, const char *name,
                                     uint64_t *ret);
struct argus_error *arguments_size_bytes(const struct arguments *arguments, const char *name,
                                         uint64_t *ret);
struct argus_error *arguments_duration_ns(const struct arguments *arguments, const char *name,
                                          uint64_t *ret);

/* --- what a front end calls (plugin/dispatch.c, plugin/help.c) --- */

/* All commands in the order of the help, NULL-terminated. */
const struct command *const *commands(void);

/* Finds the command that `argv` (without "argus") begins with, parses the rest and runs it; help is a result like
 * any other. Returns an enum exit_code, or what the command set; `*ret_error` is the error that decided it or
 * NULL, and owned by the caller, who shows it. */
int command_line_run(struct session *session, int argc, const char *const *argv,
                     struct argus_error **ret_error);
/* The same for a command that is known already; `argv` is what follows its name. Where the command is the first of
 * a group, `argv` may begin with the rest of another's name: "graph" with "show v12". */
int command_run(struct session *session, const struct command *command, int argc,
                const char *const *argv, struct argus_error **ret_error);

/* The command whose name `argv` begins with, the longest if there are several; NULL if none.
 * `*ret_words`: how many words the name has. */
const struct command *command_find(int argc, const char *const *argv, int *ret_words);
/* Can this front end run it? */
bool command_available(const struct command *command, bool in_lldb);

/* The list of all commands; the help of one command, and of the group that it begins; "usage: argus …". */
void help_print_all(struct session *session);
void help_print_command(struct session *session, const struct command *command);
/* The same of all commands for programs, as one JSON object. */
struct argus_error *help_print_json(struct session *session);
/* What help_print_command() prints below the usage line. */
void help_print_details(struct session *session, const struct command *command);
void help_write_usage(FILE *out, const struct command *command, bool in_lldb);

#ifdef __cplusplus
}
#endif
#endif
