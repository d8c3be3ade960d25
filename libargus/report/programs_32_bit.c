/* A process is a 32-bit program if its vdso is below 4 GB: the vdso of a 64-bit process is near the
 * end of its address space. The list of images has the vdso for every process, whatever recorded
 * the trace. */
#include "report/programs_32_bit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/lines.h"

#define END_32_BIT  (1ull << 32)
#define MOST_NAMED  3 /* in a sentence; JSON has all */
#define MOST_PARENT 16

/* What is not known of such a program, by the processor on which it ran: the end of a sentence,
 * after "its". */
static const struct {
    enum argus_arch arch;
    const char *unknown;
} unknown_rows[] = {
    {ARGUS_ARCH_X86_64, "toolkit callbacks and user input are not recorded"},
    {ARGUS_ARCH_AARCH64, "system calls, messages and callbacks are not recorded"},
    {ARGUS_ARCH_AARCH64, "call stacks follow frame pointers alone"},
};

enum { UNKNOWN_ROWS = sizeof(unknown_rows) / sizeof(unknown_rows[0]) };

void programs_32_bit_init(struct programs_32_bit *programs, const struct argus_graph *graph)
{
    const struct argus_image_entry *images;
    const struct argus_trace *trace = argus_graph_trace(graph);
    size_t count = argus_trace_images(trace, &images);
    *programs = (struct programs_32_bit){.graph = graph};
    if (argus_trace_header(trace)->os != ARGUS_OS_LINUX)
        return;
    for (size_t i = 0; i < count; i++)
        if (images[i].start < END_32_BIT && strcmp(images[i].path, "[vdso]") == 0)
            vec_push(&programs->pids, images[i].pid); /* without memory there is no note */
}

void programs_32_bit_deinit(struct programs_32_bit *programs)
{
    vec_deinit(&programs->pids);
    vec_deinit(&programs->processes);
}

static bool has_pid(const struct programs_32_bit *programs, uint64_t pid)
{
    for (size_t i = 0; i < programs->pids.length; i++)
        if (programs->pids.data[i] == pid)
            return true;
    return false;
}

/* A process that was forked shares the images of its parent. */
static bool is_32_bit(const struct programs_32_bit *programs, uint32_t process)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(programs->graph, &processes);
    for (int i = 0; i < MOST_PARENT && process < count; i++) {
        if (has_pid(programs, processes[process].pid))
            return true;
        if (processes[process].exec_ns)
            return false;
        process = processes[process].forked_from;
    }
    return false;
}

void programs_32_bit_touch(struct programs_32_bit *programs, uint32_t process)
{
    for (size_t i = 0; i < programs->processes.length; i++)
        if (programs->processes.data[i] == process)
            return;
    if (programs->pids.length && is_32_bit(programs, process))
        vec_push(&programs->processes, process);
}

void programs_32_bit_touch_vertex(struct programs_32_bit *programs, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    size_t count = argus_graph_vertices(programs->graph, &vertices);
    size_t thread_count = argus_graph_threads(programs->graph, &threads);
    if (vertex < count && vertices[vertex].thread < thread_count)
        programs_32_bit_touch(programs, threads[vertices[vertex].thread].process);
}

/* "a [1], b [2] and 4 more are 32-bit programs". */
static int name_programs(const struct programs_32_bit *programs, char *buffer, size_t bytes)
{
    const struct argus_process *processes;
    size_t count = programs->processes.length;
    size_t named = count > MOST_NAMED ? MOST_NAMED : count;
    int length = 0;
    argus_graph_processes(programs->graph, &processes);
    for (size_t i = 0; i < named; i++) {
        const struct argus_process *process = &processes[programs->processes.data[i]];
        const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        length += snprintf(buffer + length, bytes - (size_t)length, "%s%.40s [%" PRIu64 "]",
                           between, process->name, process->pid);
    }
    if (named < count)
        length += snprintf(buffer + length, bytes - (size_t)length, " and %zu more", count - named);
    length += snprintf(buffer + length, bytes - (size_t)length,
                       count == 1 ? " is a 32-bit program" : " are 32-bit programs");
    return length;
}

void programs_32_bit_print(const struct programs_32_bit *programs, const struct argus_sink *sink)
{
    char text[640];
    if (!programs->processes.length)
        return;
    enum argus_arch arch = argus_trace_header(argus_graph_trace(programs->graph))->arch;
    int length = name_programs(programs, text, sizeof(text));
    const char *whose = programs->processes.length == 1 ? ": its " : ": their ";
    for (size_t i = 0; i < UNKNOWN_ROWS; i++) {
        if (unknown_rows[i].arch != arch)
            continue;
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%s", whose,
                           unknown_rows[i].unknown);
        whose = programs->processes.length == 1 ? ", and its " : ", and their ";
    }
    snprintf(text + length, sizeof(text) - (size_t)length, ".");
    report_heading(sink, "32-bit programs");
    argus_sink_printf(sink, "  - ");
    report_wrapped(sink, 4, text);
}

json_t *programs_32_bit_json(const struct programs_32_bit *programs)
{
    const struct argus_process *processes;
    enum argus_arch arch = argus_trace_header(argus_graph_trace(programs->graph))->arch;
    json_t *list = json_array();
    argus_graph_processes(programs->graph, &processes);
    for (size_t i = 0; i < programs->processes.length; i++) {
        const struct argus_process *process = &processes[programs->processes.data[i]];
        json_t *json = json_object(), *unknown = json_array();
        for (size_t j = 0; j < UNKNOWN_ROWS; j++)
            if (unknown_rows[j].arch == arch)
                json_add(unknown, json_text(unknown_rows[j].unknown));
        json_put(json, "process", json_text(process->name));
        json_put(json, "pid", json_integer((json_int_t)process->pid));
        json_put(json, "unknown", unknown);
        json_add(list, json);
    }
    return list;
}
