#include "api/api.h"

#include <stdlib.h>

#include "slice/timeline.h"

static void describe(const struct argus_file *file, const struct view *view,
                     const struct argus_hang *hang, struct argus_hang_info *ret)
{
    const struct argus_thread *thread = &view->threads[hang->thread];
    const struct argus_process *process = &view->processes[thread->process];
    *ret = (struct argus_hang_info){
        .process = process->name,
        .thread = thread->name,
        .pid = process->pid,
        .tid = thread->tid,
        .start_ns = hang->start_ns,
        .end_ns = hang->end_ns,
        .start_wall_ns = argus_trace_ns_to_wall_ns(file->trace->trace, hang->start_ns),
        .type = argus_vertex_type_name((enum argus_vertex_type)hang->type),
        .nature = argus_nature_name((enum argus_hang_nature)hang->nature),
        .indicator = argus_indicator_name((enum argus_indicator)hang->indicator),
        .ongoing = hang->ongoing,
        .awaited = hang->urgency != ARGUS_URGENCY_NOBODY,
        .run_ns = hang->run_ns,
        .runnable_ns = hang->runnable_ns,
        .wait_ns = hang->wait_ns,
        .yield_ns = hang->yield_ns,
        .vertex = hang->vertex == ARGUS_NONE ? ARGUS_UNKNOWN : hang->vertex,
    };
}

static struct argus_error *find(struct argus_hang_list *list,
                                const struct argus_hang_filter *filter)
{
    struct argus_hang_options options = {.process_name = filter->process,
                                         .pid = filter->pid,
                                         .threshold_ns = filter->threshold_ns,
                                         .symbols = list->file->symbols};
    struct argus_error *error = argus_hangs_find(list->file->trace->graph, &options, &list->hangs);
    if (error)
        return error;
    struct view view = view_of(list->file->trace->graph);
    list->infos = calloc(list->hangs.count + 1, sizeof(*list->infos));
    if (!list->infos)
        return argus_error_memory();
    for (size_t i = 0; i < list->hangs.count; i++)
        describe(list->file, &view, &list->hangs.items[i], &list->infos[i]);
    return NULL;
}

struct argus_error *argus_hang_list_create(struct argus_file *file,
                                           const struct argus_hang_filter *given,
                                           struct argus_hang_list **ret)
{
    struct argus_hang_filter filter;
    struct argus_hang_list *list = calloc(1, sizeof(*list));
    if (!list)
        return argus_error_memory();
    list->file = api_file_keep(file);
    api_file_begin(file);
    struct argus_error *error = api_take_options(given, &filter, sizeof(filter));
    if (!error)
        error = find(list, &filter);
    error = api_file_end(file, error);
    if (error) {
        argus_hang_list_free(list);
        return error;
    }
    *ret = list;
    return NULL;
}

void argus_hang_list_free(struct argus_hang_list *list)
{
    if (!list)
        return;
    argus_hangs_deinit(&list->hangs);
    free(list->infos);
    argus_file_close(list->file);
    free(list);
}

size_t argus_hang_list_count(const struct argus_hang_list *list)
{
    return list->hangs.count;
}

const struct argus_hang_info *argus_hang_list_get(const struct argus_hang_list *list, size_t index)
{
    return index < list->hangs.count ? &list->infos[index] : NULL;
}
