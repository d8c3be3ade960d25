/* The commands of Argus: one table for `argus …` in a shell and `argus …` in LLDB.
 *
 * A command is one file, plugin/commands/command_<name>.c, that includes "plugin/command.h" and
 * defines one row:
 *
 *     static const struct command_option options[] = {
 *         {"output", 'o', "FILE", "write the trace to FILE"},
 *         COMMAND_OPTION_JSON,
 *         COMMAND_OPTIONS_END,
 *     };
 *     static struct argus_error *run(struct session *session, const struct arguments *arguments) {
 * … } const struct command command_stop = { .name = "stop", .arguments = "[-o FILE]", .summary =
 * "…", .example = "…", .options = options, .run = run,
 *     };
 *
 * and one line in plugin/commands.def. --help, the usage errors and the man page are made from the
 * row (docs/man_pages.py). Further text of the man page is in docs/man/commands/argus-<name>.md.
 *
 * A command prints its result to session->out (plugin/session.h) and returns NULL or an error. The
 * error decides the exit code: ARGUS_ERROR_USAGE 2, ARGUS_ERROR_QUESTION 3, all others 1. A command
 * must not keep anything in static variables, because LLDB may hold several sessions.
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
    EXIT_CODE_DAMAGED = 4, /* done, but the input was damaged, as a warning said */
};

enum command_flags {
    COMMAND_SHELL = 1 << 0, /* exists only in the shell */
    COMMAND_LLDB = 1 << 1,  /* exists only in LLDB */
    /* reads a trace: takes FILE first; without it, the newest trace here or, in LLDB, the loaded
     * one */
    COMMAND_TRACE = 1 << 2,
    COMMAND_GRAPH = 1 << 4,       /* needs the graph: also takes command_options_graph */
    COMMAND_TRACE_NAMED = 1 << 5, /* like COMMAND_TRACE, but FILE is never chosen for the user */
    COMMAND_TRACE_OF_VERTEX = 1 << 6, /* reads a trace if its words begin with [FILE] V */
    /* options end at the first word: what follows is another program's command line */
    COMMAND_PROGRAM = 1 << 3,
};

struct command_option {
    const char *name; /* without the dashes */
    char short_name;  /* 0: none */
    /* Its argument's name in the help, e.g. "FILE"; NULL: a switch. Lower case and digits are
     * literal values: "trace-events|dot", "all|none|RANGE". Shells complete them
     * (completion_values.c). */
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
    /* for the usage line, e.g. "V"; without options, and without the FILE of COMMAND_TRACE */
    const char *arguments;
    const char *summary; /* one line, lower case, no full stop */
    const char *details; /* paragraphs for --help, lines of at most 78 columns; NULL: none */
    /* description of a required word, for the error if it is missing; NULL: no word is required */
    const char *missing;
    const char *example;                  /* command lines as typed in a shell, one per line */
    const struct command_option *options; /* ends with COMMAND_OPTIONS_END; NULL: only --help */
    unsigned flags;                       /* enum command_flags */
    struct argus_error *(*run)(struct session *session, const struct arguments *arguments);
};

/* --- accessors for commands (plugin/arguments.c) --- */

/* Whether the option was given. `name` is its long name, from the row. */
bool arguments_has(const struct arguments *arguments, const char *name);
/* The argument of an option, the last one if it was given several times; NULL if not given.
 * Borrowed. */
const char *arguments_option(const struct arguments *arguments, const char *name);
/* The argument of the option's `index`th occurrence; NULL after the last one. */
const char *arguments_option_at(const struct arguments *arguments, const char *name, size_t index);
/* The number of words that are not options, including the FILE of a COMMAND_TRACE command. */
size_t arguments_count(const struct arguments *arguments);
/* The word `index`; NULL after the last one. Borrowed. */
const char *arguments_word(const struct arguments *arguments, size_t index);
/* The words from `index` on as a NULL-terminated argv: the CMD of `record -- CMD…`. Borrowed. */
char *const *arguments_argv(const struct arguments *arguments, size_t index);
/* An error (ARGUS_ERROR_USAGE) unless the number of words is from `least` to `most`. */
struct argus_error *arguments_expect(const struct arguments *arguments, size_t least, size_t most);

/* Writes the command line as it was typed, quoted for a shell: "argus diagnose --process=gedit
 * freeze.argus". Leaves out the option `without` (may be NULL). */
void arguments_write_line(const struct arguments *arguments, const char *without, FILE *out);

/* Options with a unit; `*ret` is unchanged if the option was not given.
 * A number: "99". A size: "512M", "2G", "4096" (bytes; K, M, G are powers of 1024).
 * A duration: "2s", "150ms", "3us", "40ns", "1.5s"; a bare number is seconds. */
struct argus_error *arguments_number(const struct arguments *arguments, const char *name,
                                     uint64_t *ret);
struct argus_error *arguments_size_bytes(const struct arguments *arguments, const char *name,
                                         uint64_t *ret);
struct argus_error *arguments_duration_ns(const struct arguments *arguments, const char *name,
                                          uint64_t *ret);

/* --- functions for front ends (plugin/dispatch.c, plugin/help.c) --- */

/* All commands in the order of the help, NULL-terminated. */
const struct command *const *commands(void);

/* Finds the command that `argv` (without "argus") begins with, parses the rest and runs it; --help
 * is a result like any other. Returns an enum exit_code, or the code that the command set.
 * `*ret_error` is the error that decided it, or NULL; the caller owns and shows it. */
int command_line_run(struct session *session, int argc, const char *const *argv,
                     struct argus_error **ret_error);
/* Same for a known command; `argv` is what follows its name. If the command is the first of a
 * group, `argv` may begin with the rest of another command's name: "graph" with "show v12". */
int command_run(struct session *session, const struct command *command, int argc,
                const char *const *argv, struct argus_error **ret_error);

/* The command whose name `argv` begins with, the longest name if several match; NULL: none.
 * `*ret_words`: the number of words in the name. */
const struct command *command_find(int argc, const char *const *argv, int *ret_words);
/* Whether this front end can run the command. */
bool command_available(const struct command *command, bool in_lldb);

/* Prints the list of all commands; the help of one command and of its group; "usage: argus …". */
void help_print_all(struct session *session);
void help_print_command(struct session *session, const struct command *command);
/* Prints the help of all commands for programs, as one JSON object. */
struct argus_error *help_print_json(struct session *session);
/* Prints what help_print_command() prints below the usage line. */
void help_print_details(struct session *session, const struct command *command);
void help_write_usage(FILE *out, const struct command *command, bool in_lldb);

#ifdef __cplusplus
}
#endif
#endif
