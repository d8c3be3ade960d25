#include "context/write_scope.h"

#include <string.h>

#include "context/command_scope.h"
#include "context/contexts_data.h"

#define SERVERS_SHOWN 4

struct scope_counts {
    const char *servers[SERVERS_SHOWN]; /* names, each once */
    size_t server_names;                /* known ones: at most SERVERS_SHOWN */
    bool more_servers;                  /* … and there are others */
    size_t command, server;             /* processes */
};

static void note_server(struct scope_counts *counts, const char *name)
{
    counts->server++;
    for (size_t i = 0; i < counts->server_names; i++)
        if (strcmp(counts->servers[i], name) == 0)
            return;
    if (counts->server_names < SERVERS_SHOWN)
        counts->servers[counts->server_names++] = name;
    else
        counts->more_servers = true;
}

static struct scope_counts count_scope(const struct argus_contexts *contexts)
{
    const struct argus_process *processes;
    const struct moments *moments = &contexts->moments;
    struct scope_counts counts = {0};
    size_t count = argus_graph_processes(contexts->graph, &processes);
    for (size_t i = 0; i < count; i++) {
        if (processes[i].kernel || (moments->options.process && !moments->chosen[i]))
            continue;
        counts.command += moments->scope[i] == SCOPE_COMMAND;
        if (moments->scope[i] == SCOPE_SERVER)
            note_server(&counts, processes[i].name);
    }
    return counts;
}

void scope_write(const struct argus_sink *sink, const struct argus_contexts *contexts)
{
    if (!contexts->moments.scope)
        return;
    struct scope_counts counts = count_scope(contexts);
    argus_sink_printf(sink, "only the recorded command (processes: %zu)", counts.command);
    for (size_t i = 0; i < counts.server_names; i++)
        argus_sink_printf(sink, "%s%s", i ? ", " : ", and what it waited for: ", counts.servers[i]);
    if (counts.server)
        argus_sink_printf(sink, "%s (processes: %zu)", counts.more_servers ? ", …" : "",
                          counts.server);
    argus_sink_printf(sink, "; --whole-system shows all others, too\n");
}

json_t *scope_json(const struct argus_contexts *contexts)
{
    if (!contexts->moments.scope)
        return json_null();
    struct scope_counts counts = count_scope(contexts);
    json_t *json = json_object(), *names = json_array();
    for (size_t i = 0; i < counts.server_names; i++)
        json_add(names, json_text(counts.servers[i]));
    json_put(json, "processes", json_integer((json_int_t)counts.command));
    json_put(json, "waited_for", names);
    json_put(json, "waited_for_processes", json_integer((json_int_t)counts.server));
    return json;
}
