/* The help, generated from the rows of the command table. */
#include <string.h>

#include "plugin/arguments.h"

enum { NAME_COLUMNS = 17, OPTION_COLUMNS = 26 };

void help_write_usage(FILE *out, const struct command *command, bool in_lldb)
{
    fprintf(out, "argus %s", command->name);
    if (command->options && command->options->name)
        fputs(" [OPTIONS]", out);
    if (command->flags & COMMAND_TRACE)
        fputs(command->flags & COMMAND_TRACE_NAMED && !in_lldb ? " FILE" : " [FILE]", out);
    if (command->arguments && *command->arguments)
        fprintf(out, " %s", command->arguments);
}

static void print_option(struct session *session, const struct command_option *option)
{
    char left[80], dash[8] = "    ";
    if (option->short_name)
        snprintf(dash, sizeof(dash), "-%c, ", option->short_name);
    snprintf(left, sizeof(left), "%s--%s%s%s", dash, option->name, option->argument ? "=" : "",
             option->argument ? option->argument : "");
    session_printf(session, "  %-*s %s\n", OPTION_COLUMNS, left, option->help);
}

static void print_options(struct session *session, const struct command_option *option)
{
    for (; option && option->name; option++)
        print_option(session, option);
}

static void print_summary(struct session *session, const struct command *command)
{
    session_printf(session, "  %-*s %s\n", NAME_COLUMNS, command->name, command->summary);
}

static bool in_group(const struct command *command, const struct command *group)
{
    size_t length = strlen(group->name);
    return !strncmp(command->name, group->name, length) && command->name[length] == ' ';
}

static void print_group(struct session *session, const struct command *group)
{
    const char *heading = "\ncommands below it:\n";
    for (const struct command *const *row = commands(); *row; row++) {
        if (!in_group(*row, group) || !command_available(*row, session->in_lldb))
            continue;
        session_printf(session, "%s", heading);
        heading = "";
        print_summary(session, *row);
    }
}

static void print_example(struct session *session, const char *example)
{
    session_printf(session, "\nexample:\n");
    while (*example) {
        size_t length = strcspn(example, "\n");
        session_printf(session, "  %.*s\n", (int)length, example);
        example += length;
        example += *example == '\n';
    }
}

void help_print_details(struct session *session, const struct command *command)
{
    if (command->details)
        session_printf(session, "\n%s\n", command->details);
    session_printf(session, "\noptions:\n");
    print_options(session, command->options);
    print_option(session, &command_option_help);
    if (command->flags & COMMAND_GRAPH) {
        session_printf(session, "\noptions of all commands that need the graph:\n");
        print_options(session, command_options_graph);
    }
    print_group(session, command);
    print_example(session, command->example);
}

void help_print_command(struct session *session, const struct command *command)
{
    session_printf(session, "argus %s: %s\n\nusage: ", command->name, command->summary);
    help_write_usage(session->out, command, session->in_lldb);
    session_printf(session, "\n");
    help_print_details(session, command);
}

void help_print_all(struct session *session)
{
    session_printf(
        session, "argus: why did the application freeze?\n\nusage: argus COMMAND [OPTIONS] …\n\n");
    for (const struct command *const *row = commands(); *row; row++)
        if (command_available(*row, session->in_lldb))
            print_summary(session, *row);
    session_printf(session, "\n'argus COMMAND --help' or 'argus help COMMAND' tells more. "
                            "A vertex is written v1234.\n"
                            "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a question is open, "
                            "4 the trace is damaged.\n");
}
