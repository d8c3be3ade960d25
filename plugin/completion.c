#include "plugin/completion.h"

#include <string.h>

#include "plugin/arguments.h"

enum { VALUE_BYTES = 80, OPTION_BYTES = 80 };

/* A command line up to the word that is being typed. */
struct typed {
    const struct command *command;
    const char *word;                    /* the word that is being typed */
    const struct command_option *awaits; /* option whose argument the word is; NULL: none */
    size_t words; /* number of words before it, after the command's name, that are no options */
    int program;  /* index of the first word of another program's command line; 0: none */
};

/* All options of a command, in the order of its help; NULL after the last one. */
static const struct command_option *option_at(const struct command *command, size_t index)
{
    const struct command_option *tables[] = {
        command->options, command->flags & COMMAND_GRAPH ? command_options_graph : NULL};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        for (const struct command_option *row = tables[i]; row && row->name; row++)
            if (index-- == 0)
                return row;
    return index == 0 ? &command_option_help : NULL;
}

/* The option that `word` is: "--name", "--name=…" or "-n". */
static const struct command_option *find_option(const struct command *command, const char *word)
{
    const struct command_option *option;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        bool is_long = !strncmp(word, "--", 2) && strlen(option->name) == length - 2 &&
                       !strncmp(option->name, word + 2, length - 2);
        if (is_long || (option->short_name && word[0] == '-' && word[1] == option->short_name &&
                        word[2] == '\0'))
            return option;
    }
    return NULL;
}

/* Reads the words after the command's name, except the last one. */
static void read_typed(struct typed *typed, int first, int argc, const char *const *argv)
{
    bool first_word_ends_options = typed->command->flags & COMMAND_PROGRAM;
    for (int i = first; i < argc - 1 && !typed->program; i++) {
        const struct command_option *option = find_option(typed->command, argv[i]);
        bool takes_next = option && option->argument && !strchr(argv[i], '=');
        if (!strcmp(argv[i], "--"))
            typed->program = i + 1;
        else if (takes_next && i == argc - 2)
            typed->awaits = option;
        else if (takes_next)
            i++;
        else if (argv[i][0] != '-' && first_word_ends_options)
            typed->program = i;
        else if (argv[i][0] != '-')
            typed->words++;
    }
}

void completion_offer(struct session *session, const char *prefix, const char *word,
                      const char *given, const char *help)
{
    if (!strncmp(word, given, strlen(given)))
        session_printf(session, "%s%s\t%s\n", prefix, word, help);
}

static void offer_options(struct session *session, const struct command *command, const char *given)
{
    const struct command_option *option;
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        char text[OPTION_BYTES];
        snprintf(text, sizeof(text), "--%s%s", option->name, option->argument ? "=" : "");
        completion_offer(session, "", text, given, option->help);
        snprintf(text, sizeof(text), "-%c", option->short_name);
        if (option->short_name)
            completion_offer(session, "", text, given, option->help);
    }
}

/* Offers the commands of a group, without its name; `group` NULL: commands that belong to no
 * group. */
static void offer_commands(struct session *session, const struct command *group, const char *given)
{
    size_t length = group ? strlen(group->name) + 1 : 0;
    for (const struct command *const *row = commands(); *row; row++) {
        const char *name = (*row)->name;
        bool is_below =
            !group || (!strncmp(name, group->name, length - 1) && name[length - 1] == ' ');
        if (is_below && !strchr(name + length, ' ') && command_available(*row, session->in_lldb))
            completion_offer(session, "", name + length, given, (*row)->summary);
    }
}

/* "--format=per": the option's values behind its name. */
static void offer_joined_value(struct session *session, const struct typed *typed)
{
    const struct command_option *option = find_option(typed->command, typed->word);
    char prefix[OPTION_BYTES];
    if (!option || !option->argument)
        return;
    snprintf(prefix, sizeof(prefix), "--%s=", option->name);
    completion_print_values(session, option->name, option->argument, prefix,
                            strchr(typed->word, '=') + 1);
}

static void offer_word(struct session *session, const struct typed *typed)
{
    const struct command *command = typed->command;
    char value[VALUE_BYTES] = "FILE"; /* of every command that reads a trace */
    bool is_trace = command->flags & COMMAND_TRACE;
    if (typed->words == 0)
        offer_commands(session, command, typed->word);
    if ((is_trace && typed->words == 0) ||
        completion_usage_word(command->arguments, typed->words - is_trace, value, sizeof(value)))
        completion_print_values(session, command->name, value, "", typed->word);
}

static void offer_last(struct session *session, const struct typed *typed)
{
    if (typed->program)
        session_printf(session, ":command\t%d\n", typed->program);
    else if (typed->awaits)
        completion_print_values(session, typed->awaits->name, typed->awaits->argument, "",
                                typed->word);
    else if (!strncmp(typed->word, "--", 2) && strchr(typed->word, '='))
        offer_joined_value(session, typed);
    else if (typed->word[0] == '-')
        offer_options(session, typed->command, typed->word);
    else
        offer_word(session, typed);
}

/* The command itself, or what stands in its place: an option that says what argus is. */
static void offer_first(struct session *session, const char *given)
{
    offer_commands(session, NULL, given);
    if (given[0] == '-') {
        completion_offer(session, "", "--help", given, "list the commands");
        completion_offer(session, "", "--version", given,
                         "print the version and what argus was built with");
    }
}

void completion_print(struct session *session, int argc, const char *const *argv)
{
    struct typed typed = {.word = argc > 0 ? argv[argc - 1] : ""};
    int first;
    if (argc <= 1) {
        offer_first(session, typed.word);
        return;
    }
    typed.command = command_find(argc - 1, argv, &first);
    if (!typed.command)
        return;
    if (!strcmp(typed.command->name, "help") && typed.word[0] != '-') {
        const struct command *group = command_find(argc - 2, argv + 1, &first);
        if (group || argc == 2)
            offer_commands(session, group, typed.word);
        return;
    }
    read_typed(&typed, first, argc, argv);
    offer_last(session, &typed);
}
