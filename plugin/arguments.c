/* popt does the parsing. Its tables are built for each command line, because popt writes to them,
 * and sessions must not share state. popt is never used in a way that prints: no auto-help, no
 * aliases. */
#include "plugin/arguments.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plugin/nearest.h"

/* An option given on the command line. */
struct given {
    const struct command_option *option;
    char *value; /* owned; "" for a switch */
};

struct arguments {
    const struct command *command;
    VEC(const struct command_option *) options; /* those of the command, and --help */
    VEC(struct given) given;                    /* in the order of the command line */
    char **words;                               /* NULL-terminated, owned */
    size_t count;                               /* of words */
};

const struct command_option command_option_help = {"help", 'h', NULL, "print this text"};

const struct command_option command_options_graph[] = {
    {"no-cache", 0, NULL, "build the graph, do not use or keep one in a file"},
    {"with", 0, "FILE", "add the accesses to flags that LLDB recorded (argus watchflag in LLDB)"},
    {"rules", 0, "FILE|none", "use these rules, or none, instead of those of 'argus schema add'"},
    COMMAND_OPTIONS_END,
};

static bool add_options(struct arguments *arguments, const struct command_option *option)
{
    for (; option && option->name; option++)
        if (!vec_push(&arguments->options, option))
            return false;
    return true;
}

/* Collects the options that `command` accepts, with popt's form of them in `ret_table`. */
static struct argus_error *build_tables(struct arguments *arguments, const struct command *command,
                                        struct poptOption **ret_table)
{
    bool for_graph = command->flags & COMMAND_GRAPH;
    if (!add_options(arguments, command->options) ||
        (for_graph && !add_options(arguments, command_options_graph)) ||
        !vec_push(&arguments->options, &command_option_help))
        return argus_error_memory();

    size_t count = arguments->options.length;
    struct poptOption *table = calloc(count + 1, sizeof(*table));
    *ret_table = table;
    if (!table)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++) {
        const struct command_option *option = arguments->options.data[i];
        table[i].longName = option->name;
        table[i].shortName = option->short_name;
        table[i].argInfo = option->argument ? POPT_ARG_STRING : POPT_ARG_NONE;
        table[i].val = (int)i + 1;
    }
    return NULL;
}

static struct argus_error *unknown_option(const struct arguments *arguments, const char *given)
{
    struct nearest nearest;
    nearest_init(&nearest, given + strspn(given, "-"));
    for (size_t i = 0; i < arguments->options.length; i++)
        nearest_offer(&nearest, arguments->options.data[i]->name);
    const char *name = arguments->command->name;
    if (nearest.best)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%s: no option %s; did you mean --%s? (argus %s --help)", name,
                                  given, nearest.best, name);
    return argus_error_create(ARGUS_ERROR_USAGE, "%s: no option %s (argus %s --help)", name, given,
                              name);
}

static struct argus_error *parse_error(const struct arguments *arguments, poptContext context,
                                       int code)
{
    const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    const char *name = arguments->command->name;
    if (code == POPT_ERROR_BADOPT)
        return unknown_option(arguments, given);
    if (code == POPT_ERROR_NOARG)
        return argus_error_create(ARGUS_ERROR_USAGE, "%s: %s needs an argument", name, given);
    return argus_error_create(ARGUS_ERROR_USAGE, "%s: %s: %s", name, given, poptStrerror(code));
}

static struct argus_error *copy_words(struct arguments *arguments, const char **words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    arguments->words = calloc(count + 1, sizeof(*arguments->words));
    if (!arguments->words)
        return argus_error_memory();
    for (; arguments->count < count; arguments->count++) {
        arguments->words[arguments->count] = strdup(words[arguments->count]);
        if (!arguments->words[arguments->count])
            return argus_error_memory();
    }
    return NULL;
}

static struct argus_error *collect(struct arguments *arguments, poptContext context)
{
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        struct given given = {arguments->options.data[code - 1], value ? value : strdup("")};
        if (!given.value || !vec_push(&arguments->given, given)) {
            free(given.value);
            return argus_error_memory();
        }
    }
    if (code < -1)
        return parse_error(arguments, context, code);
    return copy_words(arguments, poptGetArgs(context));
}

/* `copy` has room for "argus", the words and a NULL; it has to live as long as popt's context. */
static struct argus_error *parse_words(struct arguments *arguments, int argc,
                                       const char *const *argv, const char **copy)
{
    struct poptOption *table = NULL;
    copy[0] = "argus"; /* popt skips the program's name */
    memcpy(copy + 1, argv, (size_t)argc * sizeof(*copy));
    struct argus_error *error = build_tables(arguments, arguments->command, &table);
    if (!error) {
        bool first_word_ends_options = arguments->command->flags & COMMAND_PROGRAM;
        poptContext context = poptGetContext(
            NULL, argc + 1, copy, table, first_word_ends_options ? POPT_CONTEXT_POSIXMEHARDER : 0);
        error = context ? collect(arguments, context) : argus_error_memory();
        poptFreeContext(context);
    }
    free(table);
    return error;
}

struct argus_error *arguments_parse(const struct command *command, int argc,
                                    const char *const *argv, struct arguments **ret)
{
    struct arguments *arguments = calloc(1, sizeof(*arguments));
    const char **copy = calloc((size_t)argc + 2, sizeof(*copy));
    if (!arguments || !copy) {
        free(arguments);
        free(copy);
        return argus_error_memory();
    }
    arguments->command = command;
    struct argus_error *error = parse_words(arguments, argc, argv, copy);
    free(copy);
    if (error) {
        arguments_destroy(arguments);
        return error;
    }
    *ret = arguments;
    return NULL;
}

void arguments_destroy(struct arguments *arguments)
{
    if (!arguments)
        return;
    for (size_t i = 0; i < arguments->given.length; i++)
        free(arguments->given.data[i].value);
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->words[i]);
    free(arguments->words);
    vec_deinit(&arguments->given);
    vec_deinit(&arguments->options);
    free(arguments);
}

const char *arguments_option(const struct arguments *arguments, const char *name)
{
    for (size_t i = arguments->given.length; i-- > 0;)
        if (!strcmp(arguments->given.data[i].option->name, name))
            return arguments->given.data[i].value;
    return NULL;
}

const char *arguments_option_at(const struct arguments *arguments, const char *name, size_t index)
{
    for (size_t i = 0; i < arguments->given.length; i++)
        if (!strcmp(arguments->given.data[i].option->name, name) && index-- == 0)
            return arguments->given.data[i].value;
    return NULL;
}

bool arguments_has(const struct arguments *arguments, const char *name)
{
    return arguments_option(arguments, name) != NULL;
}

size_t arguments_count(const struct arguments *arguments)
{
    return arguments->count;
}

const char *arguments_word(const struct arguments *arguments, size_t index)
{
    return index < arguments->count ? arguments->words[index] : NULL;
}

char *const *arguments_argv(const struct arguments *arguments, size_t index)
{
    return arguments->words + (index < arguments->count ? index : arguments->count);
}

struct argus_error *arguments_insert_first(struct arguments *arguments, char *word)
{
    char **words = realloc(arguments->words, (arguments->count + 2) * sizeof(*words));
    if (!words) {
        free(word);
        return argus_error_memory();
    }
    memmove(words + 1, words, (arguments->count + 1) * sizeof(*words));
    words[0] = word;
    arguments->words = words;
    arguments->count++;
    return NULL;
}

void arguments_move_first(struct arguments *arguments, size_t index)
{
    char *word = arguments->words[index];
    memmove(arguments->words + 1, arguments->words, index * sizeof(*arguments->words));
    arguments->words[0] = word;
}

const struct command *arguments_command(const struct arguments *arguments)
{
    return arguments->command;
}

bool arguments_given(const struct arguments *arguments, size_t index, const char **ret_name,
                     const char **ret_value)
{
    if (index >= arguments->given.length)
        return false;
    const struct given *given = &arguments->given.data[index];
    *ret_name = given->option->name;
    *ret_value = given->option->argument ? given->value : NULL;
    return true;
}

/* What is wrong, and what would be right. */
static struct argus_error *usage_error(const struct arguments *arguments, const char *what)
{
    char *usage = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&usage, &length);
    if (!out)
        return argus_error_memory();
    help_write_usage(out, arguments->command, false);
    fclose(out);
    struct argus_error *error = argus_error_create(ARGUS_ERROR_USAGE, "%s: %s; usage: %s",
                                                   arguments->command->name, what, usage);
    free(usage);
    return error;
}

struct argus_error *arguments_expect(const struct arguments *arguments, size_t least, size_t most)
{
    char what[512];
    const char *missing = arguments->command->missing;
    if (arguments->count < least)
        snprintf(what, sizeof(what), "%s", missing ? missing : "FILE is missing: the trace");
    else if (arguments->count > most)
        snprintf(what, sizeof(what), "one word too many: '%s'", arguments->words[most]);
    else
        return NULL;
    return usage_error(arguments, what);
}

/* Writes words of letters, digits and the like as they are, and others in single quotes. */
void arguments_write_quoted(const char *word, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:=+@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    }
    fputc('\'', out);
}

void arguments_write_line(const struct arguments *arguments, const char *without, FILE *out)
{
    fprintf(out, "argus %s", arguments->command->name);
    for (size_t i = 0; i < arguments->given.length; i++) {
        const struct given *given = &arguments->given.data[i];
        if (without && !strcmp(given->option->name, without))
            continue;
        fprintf(out, " --%s%s", given->option->name, given->option->argument ? "=" : "");
        if (given->option->argument)
            arguments_write_quoted(given->value, out);
    }
    for (size_t i = 0; i < arguments->count; i++) {
        fputc(' ', out);
        arguments_write_quoted(arguments->words[i], out);
    }
}
