#include "plugin/hang_story.h"

#include <stdlib.h>

static void add_vertex(const struct argus_graph *graph, uint32_t vertex, bool *story)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    argus_graph_vertices(graph, &vertices);
    argus_graph_threads(graph, &threads);
    story[threads[vertices[vertex].thread].process] = true;
}

static void add_hang(const struct argus_graph *graph, const struct argus_diagnosis *diagnosis,
                     bool *story)
{
    const struct argus_thread *threads;
    argus_graph_threads(graph, &threads);
    story[threads[diagnosis->hang.thread].process] = true;
    for (size_t i = 0; i < diagnosis->path_count; i++)
        if (!diagnosis->path[i].expected)
            add_vertex(graph, diagnosis->path[i].vertex, story);
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        add_vertex(graph, diagnosis->culprits[i].vertex, story);
}

bool *hang_story_create(const struct argus_graph *graph, const struct argus_page_hang *hangs,
                        size_t count)
{
    const struct argus_process *processes;
    bool *story = calloc(argus_graph_processes(graph, &processes) + 1, sizeof(*story));
    for (size_t i = 0; story && i < count; i++)
        if (hangs[i].diagnosis)
            add_hang(graph, hangs[i].diagnosis, story);
    return story;
}
