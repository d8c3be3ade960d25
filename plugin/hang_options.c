#include "plugin/hang_options.h"

static struct argus_error *check_ids(const struct analysis *analysis,
                                     const struct argus_hang_options *options)
{
    const struct argus_process *processes;
    const struct argus_thread *threads;
    size_t process_count = argus_graph_processes(analysis->graph, &processes);
    size_t thread_count = argus_graph_threads(analysis->graph, &threads);
    bool pid_found = !options->pid, tid_found = !options->tid;
    for (size_t i = 0; i < process_count && !pid_found; i++)
        pid_found = processes[i].pid == options->pid;
    for (size_t i = 0; i < thread_count && !tid_found; i++)
        tid_found = threads[i].tid == options->tid;
    if (!pid_found)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no process with pid %llu in the trace",
                                  (unsigned long long)options->pid);
    if (!tid_found)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no thread with tid %llu in the trace",
                                  (unsigned long long)options->tid);
    return NULL;
}

struct argus_error *hang_options_get(const struct analysis *analysis,
                                     struct argus_hang_options *ret)
{
    const struct arguments *arguments = analysis->arguments;
    *ret = (struct argus_hang_options){.process_name = arguments_option(arguments, "process")};
    struct argus_error *error = arguments_number(arguments, "pid", &ret->pid);
    if (!error)
        error = arguments_number(arguments, "tid", &ret->tid);
    if (!error)
        error = arguments_duration_ns(arguments, "threshold", &ret->threshold_ns);
    if (!error && ret->process_name)
        error = analysis_check_process(analysis, ret->process_name);
    return error ? error : check_ids(analysis, ret);
}
