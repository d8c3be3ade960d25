/* Prints the graph of a trace as text: the format of the fixtures' expected files, also useful for
 * inspecting a trace.
 *
 *     dump_graph FILE.argus
 *
 * Times are ns after the trace's start. Exits 1 if the graph breaks one of its invariants. */
#include <inttypes.h>
#include <stdio.h>

#include "argus/schema.h"
#include "graph/graph_data.h"
#include "graph/text/object_name.h"

static uint64_t start_ns;

static uint64_t since(uint64_t ns)
{
    return ns >= start_ns ? ns - start_ns : 0;
}

static void print_flags(uint32_t flags)
{
    static const char *const names[] = {"first", "last",  "forked", "exited",
                                        "gap",   "split", "yields", "continues",
                                        "loop",  "peers", "batched"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (flags & 1u << i)
            printf(" %s", names[i]);
}

static void print_stack(const struct argus_graph *graph, const char *label, uint32_t index)
{
    struct argus_stack stack = argus_graph_stack(graph, index);
    if (!stack.count)
        return;
    printf(" %s=", label);
    for (uint32_t i = 0; i < stack.count; i++)
        printf("%s%" PRIx64, i ? "," : "", stack.frames[i]);
}

static void print_wait(const struct argus_graph *graph, uint32_t id, const struct argus_wait *wait)
{
    char text[200];
    printf("    wait %s: %s until %" PRIu64 ", %s", argus_wait_kind_name(wait->kind),
           argus_wait_text(graph, id, text, sizeof(text)), since(wait->end_ns),
           argus_outcome_name(wait->outcome));
    if (wait->has_result)
        printf(", result %" PRId64, wait->result);
    if (wait->timeout_ns != UINT64_MAX)
        printf(", timeout %" PRIu64, wait->timeout_ns);
    if (wait->rewakes)
        printf(", rewakes %" PRIu32, wait->rewakes);
    if (wait->holder_tid)
        printf(", holder %" PRIu32, wait->holder_tid);
    if (wait->inode)
        printf(", inode %" PRIu64 " peer %" PRIu64, wait->inode, wait->peer_inode);
    printf("%s%s", wait->by_timer ? ", by timer" : "", wait->by_device ? ", by device" : "");
    print_stack(graph, "stack", wait->user_stack);
    print_stack(graph, "kernel", wait->kernel_stack);
    printf("\n");
}

static void print_ops(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_op *ops;
    argus_graph_ops(graph, &ops);
    if (!vertex->op_count)
        return;
    printf("    ops");
    for (uint32_t i = 0; i < vertex->op_count; i++) {
        const struct argus_op *op = &ops[vertex->first_op + i];
        char number[32];
        if (op->code >> 24 == ARGUS_OP_SYSCALL)
            printf(" %s%s",
                   argus_syscall_name(argus_graph_trace(graph), op->code & 0xffff, number,
                                      sizeof(number)),
                   op->code & 1u << 16 ? "!" : "");
        else
            printf(" %s", op->code >> 24 == ARGUS_OP_WAKE         ? "(wake)"
                          : op->code >> 24 == ARGUS_OP_CALLBACK   ? "(callback)"
                          : op->code >> 24 == ARGUS_OP_UI_EVENT   ? "(ui event)"
                          : op->code >> 24 == ARGUS_OP_WORK       ? "(work)"
                          : op->code >> 24 == ARGUS_OP_FLAG_WRITE ? "(flag write)"
                          : op->code >> 24 == ARGUS_OP_FLAG_READ  ? "(flag read)"
                                                                  : "(fork)");
        if (op->repeat > 1)
            printf("*%" PRIu32, op->repeat);
    }
    printf("\n");
}

static void print_samples(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_sample *samples;
    argus_graph_samples(graph, &samples);
    for (uint32_t i = 0; i < vertex->sample_count; i++) {
        const struct argus_sample *sample = &samples[vertex->first_sample + i];
        printf("    sample %" PRIu64 " pc=%" PRIx64, since(sample->time_ns), sample->pc);
        print_stack(graph, "stack", sample->user_stack);
        printf("\n");
    }
}

static void print_edges(const struct argus_graph *graph, uint32_t id)
{
    const struct argus_rule *rules;
    const struct argus_edge *edges;
    argus_graph_rules(graph, &rules);
    size_t count = argus_graph_in_edges(graph, id, &edges);
    for (size_t i = 0; i < count; i++) {
        printf("    from v%" PRIu32 " at %" PRIu64 " %s %s %s", edges[i].from,
               since(edges[i].from_ns), argus_edge_name(&edges[i]),
               edges[i].strong ? "strong" : "weak", rules[edges[i].rule].name);
        const struct argus_edge *all;
        argus_graph_edges(graph, &all);
        bool late = edges[i].kind == ARGUS_EDGE_MESSAGE || edges[i].kind == ARGUS_EDGE_DISPATCH;
        if (late && argus_graph_cause(graph, id) == (uint32_t)(&edges[i] - all))
            printf(" (the cause)");
        print_stack(graph, "stack", edges[i].stack);
        printf("\n");
    }
}

static void print_callbacks(const struct argus_graph *graph, uint32_t id)
{
    static const char *const names[] = {"callback", "ui event",  "read",
                                        "handler",  "works for", "mark"};
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(graph, id, &callbacks);
    for (size_t i = 0; i < count; i++) {
        const struct argus_callback *c = &callbacks[i];
        const struct argus_probe_entry *probe = argus_graph_probe(graph, c->probe);
        printf("    %s at %" PRIu64 " %s", names[c->what], since(c->time_ns),
               probe ? probe->label : "unknown");
        if (c->what == ARGUS_CALLBACK_UI_EVENT || c->what == ARGUS_CALLBACK_UI_READ)
            printf(" %s%s", argus_ui_event_name(c->ui_event), c->on_purpose ? "" : " (not asked)");
        else
            printf(" function %" PRIx64, c->function);
        printf("%s\n", c->nested ? " nested" : "");
    }
}

static void print_file_locks(const struct argus_graph *graph)
{
    static const char *const what[] = {"?", "got", "refused", "released", "waits"};
    const struct argus_thread *threads;
    const struct argus_file_lock *locks;
    argus_graph_threads(graph, &threads);
    size_t count = argus_graph_file_locks(graph, &locks);
    for (size_t i = 0; i < count; i++) {
        const struct argus_file_lock *lock = &locks[i];
        printf("file lock at %" PRIu64 " of inode %" PRIu64 " on %" PRIu32 ": ",
               since(lock->time_ns), lock->inode, lock->device);
        if (lock->thread == ARGUS_NONE)
            printf("nobody");
        else
            printf("%" PRIu64, threads[lock->thread].tid);
        printf(" %s kind %u bytes %" PRIu64 " to %" PRIu64 "%s%s\n",
               what[lock->what <= ARGUS_FILE_LOCK_WAITS ? lock->what : 0], lock->kind, lock->first,
               lock->last, lock->exclusive ? " exclusive" : "", lock->listed ? " listed" : "");
    }
}

static void print_ipc_uses(const struct argus_graph *graph, const struct argus_thread *threads)
{
    static const char *const how[] = {"opened", "received", "changed"};
    const struct argus_ipc_use *uses;
    size_t count = argus_graph_ipc_uses(graph, &uses);
    for (size_t i = 0; i < count; i++)
        printf("%s %" PRIu32 ": thread %" PRIu64 " %s it, last at %" PRIu64 "\n",
               uses[i].is_queue ? "queue" : "semaphores", uses[i].id, threads[uses[i].thread].tid,
               how[uses[i].how], since(uses[i].last_ns));
}

static void print_open_ends(const struct argus_graph *graph, const struct argus_thread *threads)
{
    const struct argus_open_end *ends;
    size_t count = argus_graph_open_ends(graph, &ends);
    for (size_t i = 0; i < count; i++)
        printf("end of %" PRIu64 ": thread %" PRIu64 "%s%s\n", ends[i].inode,
               threads[ends[i].thread].tid, ends[i].reads ? " reads" : "",
               ends[i].writes ? " writes" : "");
}

static void print_shared_memory(const struct argus_graph *graph, const struct argus_thread *threads)
{
    const struct argus_shared_memory *all;
    size_t count = argus_graph_shared_memory(graph, &all);
    for (size_t i = 0; i < count; i++)
        printf("shared memory of thread %" PRIu64 ": 0x%" PRIx64 " bytes %" PRIu64 " inode %" PRIu64
               " of device %u from %" PRIu64 "%s\n",
               threads[all[i].thread].tid, all[i].start, all[i].bytes, all[i].inode, all[i].device,
               all[i].offset, all[i].writable ? " writable" : "");
}

static void print_lock_names(const struct argus_graph *graph)
{
    const struct argus_lock_name *names;
    size_t count = argus_graph_lock_names(graph, &names);
    for (size_t i = 0; i < count; i++)
        printf("lock file %" PRIu64 ": %s\n", names[i].inode, names[i].path);
}

static void print_object_names(const struct argus_graph *graph)
{
    const struct argus_remote *remotes;
    const struct argus_file_name *names;
    char address[64];
    size_t count = argus_graph_remotes(graph, &remotes);
    for (size_t i = 0; i < count; i++)
        printf("socket %" PRIu64 " at %" PRIu64 ": %s, protocol %u, own port %u\n",
               remotes[i].inode, since(remotes[i].time_ns),
               remote_text(&remotes[i], address, sizeof(address)), remotes[i].protocol,
               remotes[i].own_port);
    count = argus_graph_file_names(graph, &names);
    for (size_t i = 0; i < count; i++)
        printf("file %" PRIu64 ": %s\n", names[i].inode, names[i].path);
}

static void print_vertex(const struct argus_graph *graph, uint32_t id)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    const struct argus_vertex *vertex = &vertices[id];
    printf("  v%" PRIu32 " [%" PRIu64 " %" PRIu64 ") run %" PRIu64 " runnable %" PRIu64, id,
           since(vertex->start_ns), since(vertex->end_ns), vertex->run_ns, vertex->runnable_ns);
    if (vertex->repeat > 1)
        printf(" repeat %" PRIu32, vertex->repeat);
    if (vertex->yield_calls)
        printf(" yields %" PRIu32, vertex->yield_calls);
    print_flags(vertex->flags);
    printf("\n");
    print_edges(graph, id);
    print_ops(graph, vertex);
    print_callbacks(graph, id);
    print_samples(graph, vertex);
    if (vertex->wait.kind != ARGUS_WAIT_NONE)
        print_wait(graph, id, &vertex->wait);
}

static void print_thread(const struct argus_graph *graph, const struct argus_thread *thread)
{
    const struct argus_process *processes;
    argus_graph_processes(graph, &processes);
    const struct argus_process *process = &processes[thread->process];
    printf("thread %" PRIu64 " \"%s\" of process %" PRIu64 " \"%s\"%s", thread->tid, thread->name,
           process->pid, process->name, process->kernel ? " (kernel)" : "");
    if (thread->start_ns)
        printf(" from %" PRIu64, since(thread->start_ns));
    if (thread->end_ns != UINT64_MAX)
        printf(" to %" PRIu64, since(thread->end_ns));
    printf("\n");
    for (uint32_t i = 0; i < thread->vertex_count; i++)
        print_vertex(graph, thread->first_vertex + i);
}

static void print_tables(const struct argus_graph *graph)
{
    const struct argus_rule *rules;
    const struct argus_object_use *uses;
    size_t rule_count = argus_graph_rules(graph, &rules);
    size_t use_count = argus_graph_object_uses(graph, &uses);
    const struct argus_thread *threads;
    argus_graph_threads(graph, &threads);
    for (size_t i = 0; i < use_count; i++)
        printf("use of inode %" PRIu64 " by thread %" PRIu64 ", last at %" PRIu64 "%s%s\n",
               uses[i].inode, threads[uses[i].thread].tid, since(uses[i].last_ns),
               uses[i].wrote ? ", wrote" : "", uses[i].changed ? ", changed" : "");
    for (size_t i = 0; i < rule_count; i++)
        if (rules[i].count)
            printf("rule %s %" PRIu64 "\n", rules[i].name, rules[i].count);
}

static void print_left_out(const struct argus_graph *graph)
{
    const struct argus_left_out *left;
    size_t count = argus_graph_left_out(graph, &left);
    for (size_t i = 0; i < count; i++)
        printf("left out [%" PRIu64 " %" PRIu64 ") categories %#" PRIx64 "\n",
               since(left[i].from_ns), since(left[i].to_ns), left[i].categories);
}

static void print_graph(const struct argus_graph *graph)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(graph, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].vertex_count)
            print_thread(graph, &threads[i]);
    print_tables(graph);
    print_file_locks(graph);
    print_lock_names(graph);
    print_ipc_uses(graph, threads);
    print_open_ends(graph, threads);
    print_shared_memory(graph, threads);
    print_object_names(graph);
    print_left_out(graph);
}

static int fail(struct argus_error *error)
{
    fprintf(stderr, "dump_graph: %s\n", error->message);
    argus_error_destroy(error);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: dump_graph FILE [RULES]\n");
        return 2;
    }
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_rule_set *rules = NULL;
    struct argus_error *error = argus_trace_open(argv[1], &trace);
    if (!error)
        error = argus_rule_set_create(&rules);
    if (!error && argc == 3)
        error = argus_rule_set_read(rules, argv[2]);
    struct argus_graph_options options = {.rules = rules};
    if (!error)
        error = argus_graph_build(trace, &options, NULL, NULL, &graph);
    if (error)
        return fail(error);
    start_ns = argus_graph_start_ns(graph);
    print_graph(graph);
    char why[200];
    const char *broken = graph_check(graph, why, sizeof(why));
    if (broken)
        fprintf(stderr, "dump_graph: %s\n", broken);
    argus_graph_destroy(graph);
    argus_rule_set_destroy(rules);
    argus_trace_close(trace);
    return broken ? 1 : 0;
}
