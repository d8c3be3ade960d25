/* Finds and runs the command for a list of words, and turns its result into an exit code. */
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "plugin/arguments.h"
#include "plugin/command.h"
#include "plugin/completion.h"
#include "plugin/nearest.h"
#include "plugin/shown_output.h"
#include "plugin/trace_choice.h"

/* How many words form `name`, which may consist of two; 0 if they do not. */
static int name_words(const char *name, int argc, const char *const *argv)
{
    int words = 0;
    while (*name) {
        size_t length = strcspn(name, " ");
        if (words == argc || strlen(argv[words]) != length ||
            strncmp(argv[words], name, length) != 0)
            return 0;
        name += length;
        name += *name == ' ';
        words++;
    }
    return words;
}

const struct command *command_find(int argc, const char *const *argv, int *ret_words)
{
    const struct command *best = NULL;
    *ret_words = 0;
    for (const struct command *const *row = commands(); *row; row++) {
        int words = name_words((*row)->name, argc, argv);
        if (words > *ret_words) {
            best = *row;
            *ret_words = words;
        }
    }
    return best;
}

bool command_available(const struct command *command, bool in_lldb)
{
    return !(command->flags & (in_lldb ? COMMAND_SHELL : COMMAND_LLDB));
}

static int exit_code_of(const struct argus_error *error)
{
    if (error->code == ARGUS_ERROR_USAGE)
        return EXIT_CODE_USAGE;
    return error->code == ARGUS_ERROR_QUESTION ? EXIT_CODE_QUESTION : EXIT_CODE_FAILED;
}

static struct argus_error *unavailable(const struct command *command, bool in_lldb)
{
    return argus_error_create(ARGUS_ERROR_USAGE, "argus %s works only in %s", command->name,
                              in_lldb ? "the shell" : "LLDB (argus debug FILE)");
}

static struct argus_error *parse_and_run(struct session *session, const struct command *command,
                                         int argc, const char *const *argv)
{
    if (!command_available(command, session->in_lldb))
        return unavailable(command, session->in_lldb);
    struct arguments *arguments;
    struct argus_error *error = arguments_parse(command, argc, argv, &arguments);
    if (error)
        return error;
    session_begin(session);
    session->no_cache = arguments_has(arguments, "no-cache");
    if (arguments_has(arguments, "help"))
        help_print_command(session, command);
    else if (!(error = trace_choice_complete(session, arguments)))
        error = command->run(session, arguments);
    /* An analysis whose output was interrupted has failed. For recording, Ctrl-C is meant for the
     * recorded program. */
    if (!error && command->flags & COMMAND_TRACE && session_interrupted(session))
        error = session_interrupt_error();
    session_end(session);
    arguments_destroy(arguments);
    return error;
}

static bool is_group(const struct command *command, const struct command *member)
{
    size_t length = strlen(command->name);
    return !strncmp(member->name, command->name, length) && member->name[length] == ' ';
}

/* Turns "graph" with "show v12" into "graph show" with "v12". */
static const struct command *descend(const struct command *command, int *argc,
                                     const char *const **argv)
{
    size_t length = strlen(command->name);
    for (const struct command *const *row = commands(); *row; row++) {
        if (!is_group(command, *row))
            continue;
        int words = name_words((*row)->name + length + 1, *argc, *argv);
        if (words) {
            *argc -= words;
            *argv += words;
            return *row;
        }
    }
    return command;
}

/* "graph shwo v12": the word after a group's name is one of its commands, FILE, or a mistake. */
static struct argus_error *misspelt_member(const struct command *group, const char *word)
{
    struct nearest nearest;
    if (!(group->flags & (COMMAND_TRACE | COMMAND_GRAPH)) || word[0] == '-' ||
        trace_choice_is_file(word))
        return NULL;
    nearest_init(&nearest, word);
    for (const struct command *const *row = commands(); *row; row++)
        if (is_group(group, *row))
            nearest_offer(&nearest, (*row)->name + strlen(group->name) + 1);
    return nearest.best ? argus_error_create(ARGUS_ERROR_USAGE,
                                             "there is neither a file nor a command 'argus %s %s'; "
                                             "did you mean 'argus %s %s'?",
                                             group->name, word, group->name, nearest.best)
                        : NULL;
}

/* LLDB keeps the output of a command in memory, and so does its front end. */
#define LLDB_MOST_OUTPUT (64ull << 20)

static FILE *open_shown(const struct session *session)
{
    return shown_output_open_limited(session->out, session->colour,
                                     session->in_lldb ? LLDB_MOST_OUTPUT : UINT64_MAX);
}

/* Closes it. In LLDB, `out` is memory, so only too much output is an error. */
static void close_shown(struct session *session, FILE *shown, FILE *out)
{
    bool is_cut = fflush(shown) || ferror(shown);
    fclose(shown); /* a failure is an error of `out`, too */
    session->out = out;
    if (is_cut && session->in_lldb)
        session_warn(session,
                     "the output ends here, after %llu MB: ask for less, or run the command in a "
                     "shell",
                     LLDB_MOST_OUTPUT >> 20);
}

/* Everything that the command prints passes base/shown.h. */
static struct argus_error *run_shown(struct session *session, const struct command *command,
                                     int argc, const char *const *argv)
{
    FILE *out = session->out, *shown = open_shown(session);
    if (!shown)
        return argus_error_memory();
    session->out = shown;
    struct argus_error *error = parse_and_run(session, command, argc, argv);
    close_shown(session, shown, out);
    char *line = error ? shown_line(error->message) : NULL;
    return line ? argus_error_replace(error, line) : error;
}

int command_run(struct session *session, const struct command *command, int argc,
                const char *const *argv, struct argus_error **ret_error)
{
    command = descend(command, &argc, &argv);
    session->exit_code = EXIT_CODE_DONE;
    session->damage_seen = false;
    struct argus_error *error = argc ? misspelt_member(command, argv[0]) : NULL;
    if (!error)
        error = run_shown(session, command, argc, argv);
    *ret_error = error;
    if (error)
        return exit_code_of(error);
    if (session->exit_code == EXIT_CODE_DONE && session->damage_seen)
        return EXIT_CODE_DAMAGED;
    return session->exit_code;
}

/* "freeze.argus diagnose v12", "--json diagnose freeze.argus": finds a command that is not the
 * first word. Returns the number of words before it; 0: there is no command. */
static int find_displaced_command(int argc, const char *const *argv, int *ret_words)
{
    bool displaced = argv[0][0] == '-' || trace_choice_is_file(argv[0]);
    for (int at = 1; displaced && at < argc; at++)
        if (command_find(argc - at, argv + at, ret_words))
            return at;
    return 0;
}

static void write_words(FILE *out, int count, const char *const *words)
{
    for (int i = 0; i < count; i++) {
        fputc(' ', out);
        arguments_write_quoted(words[i], out);
    }
}

static struct argus_error *command_comes_first(int argc, const char *const *argv, int at, int words)
{
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (!out)
        return argus_error_memory();
    fputs("argus", out);
    write_words(out, words, argv + at);
    write_words(out, at, argv);
    write_words(out, argc - at - words, argv + at + words);
    fclose(out);
    struct argus_error *error = argus_error_create(
        ARGUS_ERROR_USAGE, "'%s' is not a command: the command comes first: %s", argv[0], line);
    free(line);
    return error;
}

static struct argus_error *unknown_command(int argc, const char *const *argv, bool in_lldb)
{
    int words;
    const char *word = argv[0];
    int at = find_displaced_command(argc, argv, &words);
    if (at)
        return command_comes_first(argc, argv, at, words);
    if (trace_choice_is_file(word))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "'%s' is a file, not a command: write what to do with it, e.g. "
                                  "argus diagnose %s",
                                  word, word);
    struct nearest nearest;
    nearest_init(&nearest, word);
    for (const struct command *const *row = commands(); *row; row++)
        if (command_available(*row, in_lldb))
            nearest_offer(&nearest, (*row)->name);
    if (nearest.best)
        return argus_error_create(ARGUS_ERROR_USAGE, "no command '%s'; did you mean 'argus %s'?",
                                  word, nearest.best);
    return argus_error_create(ARGUS_ERROR_USAGE, "no command '%s' ('argus help' lists them)", word);
}

/* Options that can be given instead of a command. */
static const struct alone {
    const char *word;
    const char *command, *argument;
} alone_rows[] = {
    {"", "help", NULL},           {"-h", "help", NULL},         {"--help", "help", NULL},
    {"-v", "version", "--short"}, {"-V", "version", "--short"}, {"--version", "version", NULL},
};

static const struct alone *find_alone(const char *word)
{
    for (size_t i = 0; i < sizeof(alone_rows) / sizeof(*alone_rows); i++)
        if (!strcmp(alone_rows[i].word, word))
            return &alone_rows[i];
    return NULL;
}

int command_line_run(struct session *session, int argc, const char *const *argv,
                     struct argus_error **ret_error)
{
    int words;
    if (argc > 0 && !strcmp(argv[0], COMPLETION_WORD)) {
        completion_print(session, argc - 1, argv + 1);
        return EXIT_CODE_DONE;
    }
    const struct alone *alone = argc <= 1 ? find_alone(argc ? argv[0] : "") : NULL;
    if (alone)
        return command_run(session, command_find(1, &alone->command, &words),
                           alone->argument != NULL, &alone->argument, ret_error);

    const struct command *command = command_find(argc, argv, &words);
    if (!command) {
        *ret_error = unknown_command(argc, argv, session->in_lldb);
        return EXIT_CODE_USAGE;
    }
    return command_run(session, command, argc - words, argv + words, ret_error);
}
