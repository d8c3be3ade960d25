/* Prints the command table as JSON, from which the man pages of the commands are made
 * (docs/man_pages.py). */
#include <stdlib.h>

#include "plugin/arguments.h"
#include "plugin/json_output.h"

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_text(text) : json_null();
}

static json_t *json_option(const struct command_option *option)
{
    char short_name[2] = {option->short_name, '\0'};
    return json_pack("{s:s, s:o, s:o, s:s}", "name", option->name, "short",
                     text_or_null(short_name), "argument", text_or_null(option->argument), "help",
                     option->help);
}

static json_t *json_options(const struct command_option *option)
{
    json_t *list = json_array();
    for (; option && option->name; option++)
        json_add(list, json_option(option));
    return list;
}

static json_t *json_usage(const struct command *command)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    help_write_usage(out, command, (command->flags & COMMAND_LLDB) != 0);
    json_t *usage = fclose(out) == 0 ? json_text(text) : NULL;
    free(text);
    return usage;
}

static json_t *json_command(const struct command *command)
{
    bool reads = command->flags & (COMMAND_TRACE | COMMAND_TRACE_OF_VERTEX);
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:b, s:b}", "name", command->name, "usage",
                     json_usage(command), "summary", command->summary, "details",
                     text_or_null(command->details), "options", json_options(command->options),
                     "examples", command->example, "reads_trace", reads, "needs_graph",
                     (command->flags & COMMAND_GRAPH) != 0);
}

struct argus_error *help_print_json(struct session *session)
{
    json_t *all = json_object(), *list = json_array();
    for (const struct command *const *row = commands(); *row; row++)
        json_add(list, json_command(*row));
    json_put(all, "commands", list);
    json_put(all, "graph_options", json_options(command_options_graph));
    return json_output(session, "argus-help 1", all);
}
