/* Threads and processes: creation, names, exec, and exit. */
#include "event/tracepoints.h"
#include "graph/build/activity.h"
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/rules/fork.h"

void graph_on_new_thread(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    struct machine *machine = &builder->graph->machine;
    uint32_t earlier = machine_find_thread(machine, record->arg[0]);
    if (earlier != ARGUS_NONE && earlier < builder->threads.length && earlier != cpu->thread &&
        thread_at(builder, earlier)->slot != ARGUS_NONE) {
        struct thread_state *state = thread_at(builder, earlier);
        if (state->activity == THREAD_RUNNING)
            thread_lose(builder, earlier, 0);
        thread_gone(builder, earlier);
    }
    cpu->last_new = machine_new_thread(machine, record, cpu->thread, builder->now_ns);
    uint32_t child = builder_thread(builder, record->arg[0]);
    if (child == ARGUS_NONE || child == cpu->thread)
        return;
    thread_at(builder, child)->syscall_known = true;
    if (!vertex_begin(builder, child, builder->now_ns, ARGUS_VERTEX_FORKED))
        return;
    builder_count(builder, RULE_BOUNDARY_FORK);
    thread_at(builder, child)->activity = THREAD_RUNNABLE;
    thread_at(builder, child)->since_ns = builder->now_ns;
    if (cpu->thread != ARGUS_NONE)
        rule_fork(builder, cpu->thread, child);
}

void graph_on_thread_exit(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    (void)cpu;
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->arg[0]);
    if (thread == ARGUS_NONE)
        return;
    machine_thread_exit(&builder->graph->machine, thread, record->arg[1] == 1, builder->now_ns);
    if (thread >= builder->threads.length)
        return;
    bool is_reaped = record->tid != record->arg[0]; /* on Darwin, another thread reports the exit */
    thread_killed(builder, thread);
    thread_at(builder, thread)->exiting = true;
    if (is_reaped && builder->os == ARGUS_OS_DARWIN &&
        thread_at(builder, thread)->activity != THREAD_RUNNING)
        thread_gone(builder, thread);
}

void graph_on_exec(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    uint32_t thread = builder_thread(builder, record->tid);
    (void)cpu;
    if (thread == ARGUS_NONE)
        return;
    machine_exec(&builder->graph->machine, thread, builder->now_ns);
    builder_count(builder, RULE_EXEC);
}

static void rename_thread(struct builder *builder, uint32_t thread,
                          const struct argus_record *record)
{
    char name[33];
    tracepoint_name_bytes(record, name);
    if (thread != ARGUS_NONE)
        machine_rename(&builder->graph->machine, thread, name);
}

/* Linux names threads; a process has the name of its main thread. Darwin names both. */
static void rename_process(struct builder *builder, uint32_t process,
                           const struct argus_record *record)
{
    char name[33];
    tracepoint_name_bytes(record, name);
    if (builder->os == ARGUS_OS_DARWIN)
        machine_rename_process(&builder->graph->machine, process, name);
}

void graph_on_name_new(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    rename_thread(builder, cpu->last_new, record);
    if (cpu->last_new != ARGUS_NONE)
        rename_process(builder, builder->graph->machine.threads.data[cpu->last_new].process,
                       record);
}

void graph_on_name_exec(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    uint32_t thread = builder_thread(builder, record->tid);
    (void)cpu;
    rename_thread(builder, thread, record);
    if (thread != ARGUS_NONE)
        rename_process(builder, builder->graph->machine.threads.data[thread].process, record);
}

void graph_on_name_thread(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    (void)cpu;
    rename_thread(builder, builder_thread(builder, record->tid), record);
}

/* The trace's clock ignores suspend and changes of the wall clock, so neither changes a wait. These
 * records are for argus_trace_ns_to_wall_ns(). A ring file repeats them. */
void graph_on_suspended(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    struct argus_graph *graph = builder->graph;
    struct argus_suspension found = {.noticed_ns = record->timestamp, .length_ns = record->arg[0]};
    (void)cpu;
    size_t count = graph->suspensions.length; /* in the order of time, as the records are */
    if (count && graph->suspensions.data[count - 1].noticed_ns == found.noticed_ns)
        return;
    if (!vec_push(&graph->suspensions, found))
        builder->no_memory = true;
}

void graph_on_clock_step(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}
