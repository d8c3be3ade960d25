#include "context/write_scope.h"

#include <string.h>

#include "context/command_scope.h"
#include "context/contexts_data.h"

#define NAMES_SHOWN 4

/* The processes of one part of the scope. */
struct part_names {
    const char *names[NAMES_SHOWN]; /* each once */
    size_t name_count;              /* known ones: at most NAMES_SHOWN */
    bool more;                      /* … and there are others */
    size_t processes;
};

struct scope_counts {
    struct part_names parts[SCOPE_STORY + 1]; /* by enum scope_part */
};

static void note_process(struct part_names *part, const char *name)
{
    part->processes++;
    for (size_t i = 0; i < part->name_count; i++)
        if (strcmp(part->names[i], name) == 0)
            return;
    if (part->name_count < NAMES_SHOWN)
        part->names[part->name_count++] = name;
    else
        part->more = true;
}

static struct scope_counts count_scope(const struct argus_contexts *contexts)
{
    const struct argus_process *processes;
    const struct moments *moments = &contexts->moments;
    struct scope_counts counts = {0};
    size_t count = argus_graph_processes(contexts->graph, &processes);
    for (size_t i = 0; i < count; i++)
        if (!processes[i].kernel && (!moments->options.process || moments->chosen[i]))
            note_process(&counts.parts[moments->scope[i]], processes[i].name);
    return counts;
}

static void write_names(const struct argus_sink *sink, const struct part_names *part)
{
    for (size_t i = 0; i < part->name_count; i++)
        argus_sink_printf(sink, "%s%s", i ? ", " : "", part->names[i]);
    argus_sink_printf(sink, "%s (processes: %zu)", part->more ? ", …" : "", part->processes);
}

/* A chosen process may be of any part, so each sentence also stands alone. */
void scope_write(const struct argus_sink *sink, const struct argus_contexts *contexts)
{
    if (!contexts->moments.scope)
        return;
    struct scope_counts counts = count_scope(contexts);
    const struct part_names *command = &counts.parts[SCOPE_COMMAND];
    const struct part_names *servers = &counts.parts[SCOPE_SERVER];
    const struct part_names *story = &counts.parts[SCOPE_STORY];
    if (!command->processes && !servers->processes && !story->processes)
        return;
    argus_sink_printf(sink, "only ");
    if (command->processes)
        argus_sink_printf(sink, "the recorded command (processes: %zu)", command->processes);
    if (servers->processes) {
        argus_sink_printf(sink, "%s",
                          command->processes ? ", and what it waited for: "
                                             : "what the recorded command waited for: ");
        write_names(sink, servers);
    }
    if (story->processes) {
        argus_sink_printf(sink, "%sthe processes of the explained hangs: ",
                          command->processes || servers->processes ? ", and " : "");
        write_names(sink, story);
    }
    argus_sink_printf(sink, contexts->moments.options.process
                                ? "; argus contexts --whole-system shows others of that name, too\n"
                                : "; argus contexts --whole-system shows all others, too\n");
}

json_t *scope_json(const struct argus_contexts *contexts)
{
    if (!contexts->moments.scope)
        return json_null();
    struct scope_counts counts = count_scope(contexts);
    json_t *json = json_object(), *names = json_array();
    const struct part_names *servers = &counts.parts[SCOPE_SERVER];
    for (size_t i = 0; i < servers->name_count; i++)
        json_add(names, json_text(servers->names[i]));
    json_put(json, "processes", json_integer((json_int_t)counts.parts[SCOPE_COMMAND].processes));
    json_put(json, "waited_for", names);
    json_put(json, "waited_for_processes", json_integer((json_int_t)servers->processes));
    return json;
}
