/* Prints the graphs of traces as JSON, one on a line, with all its figures. second_builder.py makes
 * the same from the records alone, and property.py compares them.
 *
 *     raw_graph FILE.argus…
 *
 * event/pairing/pairing.c pairs sends with receives and has its own tests. So the pairs passed to
 * the graph are printed too, as input for the second builder: the linker wraps rule_message() for
 * that.
 *
 * Exits 1 if a graph breaks one of its invariants. */
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "event/pairing/pairing.h"
#include "graph/graph_data.h"

struct seen_pair {
    uint32_t from, to; /* threads */
    uint64_t from_ns, to_ns;
    bool exact;
};

static VEC(struct seen_pair) pairs;

void __real_rule_message(void *context, const struct pairing_pair *pair);
void __wrap_rule_message(void *context, const struct pairing_pair *pair);

void __wrap_rule_message(void *context, const struct pairing_pair *pair)
{
    struct seen_pair seen = {pair->send->thread, pair->receive->thread, pair->send->record_ns,
                             pair->receive->record_ns, pair->exact};
    if (!vec_push(&pairs, seen))
        fprintf(stderr, "raw_graph: out of memory, a pair is missing\n");
    __real_rule_message(context, pair);
}

static const char *separator(size_t i)
{
    return i ? "," : "";
}

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        printf("%02x", (unsigned char)*text);
    putchar('"');
}

static void print_stack(const struct argus_graph *graph, uint32_t index)
{
    struct argus_stack stack = argus_graph_stack(graph, index);
    putchar('[');
    for (uint32_t i = 0; i < stack.count; i++)
        printf("%s%" PRIu64, separator(i), stack.frames[i]);
    putchar(']');
}

/* Two stacks as members of an object. */
static void print_stacks(const struct argus_graph *graph, uint32_t user, uint32_t kernel)
{
    printf(",\"user\":");
    print_stack(graph, user);
    printf(",\"kernel\":");
    print_stack(graph, kernel);
}

static void print_details(const struct argus_graph *graph, uint32_t first)
{
    const struct argus_wait_detail *details;
    argus_graph_details(graph, &details);
    printf(",\"details\":[");
    for (uint32_t i = first; i != ARGUS_NONE; i = details[i].next)
        printf("%s[%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", separator(i != first),
               details[i].kind, details[i].arg[0], details[i].arg[1], details[i].arg[2],
               details[i].arg[3]);
    putchar(']');
}

static void print_wait(const struct argus_graph *graph, const struct argus_wait *wait)
{
    printf(",\"wait\":{\"kind\":\"%s\",\"outcome\":\"%s\",\"end\":%" PRIu64 ",\"object\":%" PRIu64
           ",\"inode\":%" PRIu64 ",\"peer\":%" PRIu64 ",\"type\":%" PRIu64 ",\"timeout\":%" PRIu64,
           argus_wait_kind_name(wait->kind), argus_outcome_name(wait->outcome), wait->end_ns,
           wait->object, wait->inode, wait->peer_inode, wait->object_type, wait->timeout_ns);
    printf(",\"holder\":%" PRIu32 ",\"rewakes\":%" PRIu32
           ",\"syscall\":%u,\"by_timer\":%d,\"by_device\":%d",
           wait->holder_tid, wait->rewakes, wait->syscall, wait->by_timer, wait->by_device);
    if (wait->has_result)
        printf(",\"result\":%" PRId64, wait->result);
    print_stacks(graph, wait->user_stack, wait->kernel_stack);
    print_details(graph, wait->first_detail);
    putchar('}');
}

static void print_ops(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_op *ops;
    argus_graph_ops(graph, &ops);
    printf(",\"ops\":[");
    for (uint32_t i = 0; i < vertex->op_count; i++)
        printf("%s[%" PRIu32 ",%" PRIu32 "]", separator(i), ops[vertex->first_op + i].code,
               ops[vertex->first_op + i].repeat);
    putchar(']');
}

static void print_samples(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_sample *samples;
    argus_graph_samples(graph, &samples);
    printf(",\"samples\":[");
    for (uint32_t i = 0; i < vertex->sample_count; i++) {
        const struct argus_sample *sample = &samples[vertex->first_sample + i];
        printf("%s{\"time\":%" PRIu64 ",\"pc\":%" PRIu64, separator(i), sample->time_ns,
               sample->pc);
        print_stacks(graph, sample->user_stack, sample->kernel_stack);
        putchar('}');
    }
    putchar(']');
}

static void print_callbacks(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(graph, vertex, &callbacks);
    printf(",\"callbacks\":[");
    for (size_t i = 0; i < count; i++)
        printf("%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%d,%d,%d,%d]", separator(i),
               callbacks[i].time_ns, callbacks[i].function, callbacks[i].other, callbacks[i].probe,
               callbacks[i].what, callbacks[i].ui_event, callbacks[i].on_purpose,
               callbacks[i].nested);
    putchar(']');
}

static void print_vertex(const struct argus_graph *graph, uint32_t id)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    const struct argus_vertex *vertex = &vertices[id];
    printf("{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"run\":%" PRIu64 ",\"runnable\":%" PRIu64
           ",\"repeat\":%" PRIu32 ",\"yields\":%" PRIu32 ",\"flags\":%" PRIu32
           ",\"thread\":%" PRIu32,
           vertex->start_ns, vertex->end_ns, vertex->run_ns, vertex->runnable_ns, vertex->repeat,
           vertex->yield_calls, vertex->flags, vertex->thread);
    print_ops(graph, vertex);
    print_samples(graph, vertex);
    print_callbacks(graph, id);
    if (vertex->wait.kind != ARGUS_WAIT_NONE)
        print_wait(graph, &vertex->wait);
    putchar('}');
}

static void print_vertices(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    printf(",\"vertices\":[");
    for (size_t i = 0; i < count; i++) {
        printf("%s", separator(i));
        print_vertex(graph, (uint32_t)i);
    }
    putchar(']');
}

static void print_edges(const struct argus_graph *graph)
{
    const struct argus_edge *edges;
    const struct argus_rule *rules;
    size_t count = argus_graph_edges(graph, &edges);
    argus_graph_rules(graph, &rules);
    printf(",\"edges\":[");
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &edges[i];
        printf(
            "%s{\"from\":%" PRIu32 ",\"to\":%" PRIu32 ",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64
            ",\"kind\":\"%s\",\"strong\":%d,\"message\":%d,\"rule\":\"%s\",\"stack\":",
            separator(i), edge->from, edge->to, edge->from_ns, edge->to_ns,
            argus_edge_kind_name(edge->kind), edge->strong, edge->message, rules[edge->rule].name);
        print_stack(graph, edge->stack);
        putchar('}');
    }
    putchar(']');
}

static void print_threads(const struct argus_graph *graph)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    size_t count = argus_graph_threads(graph, &threads);
    argus_graph_processes(graph, &processes);
    printf("{\"threads\":[");
    for (size_t i = 0; i < count; i++) {
        printf("%s{\"tid\":%" PRIu64 ",\"pid\":%" PRIu64 ",\"kernel\":%d,\"name\":", separator(i),
               threads[i].tid, processes[threads[i].process].pid,
               processes[threads[i].process].kernel);
        print_text(threads[i].name);
        printf(",\"first\":%" PRIu32 ",\"count\":%" PRIu32 "}", threads[i].first_vertex,
               threads[i].vertex_count);
    }
    putchar(']');
}

static void print_uses(const struct argus_graph *graph)
{
    const struct argus_object_use *uses;
    size_t count = argus_graph_object_uses(graph, &uses);
    printf(",\"uses\":[");
    for (size_t i = 0; i < count; i++)
        printf("%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%d]", separator(i),
               uses[i].inode, uses[i].peer_inode, uses[i].last_ns, uses[i].thread,
               uses[i].wrote | uses[i].changed << 1);
    putchar(']');
}

static void print_rules(const struct argus_graph *graph)
{
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(graph, &rules);
    printf(",\"rules\":{");
    for (size_t i = 0; i < count; i++)
        printf("%s\"%s\":%" PRIu64, separator(i), rules[i].name, rules[i].count);
    printf("}}\n");
}

static void print_pairs(void)
{
    printf(",\"pairs\":[");
    for (size_t i = 0; i < pairs.length; i++)
        printf("%s[%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%d]", separator(i),
               pairs.data[i].from, pairs.data[i].from_ns, pairs.data[i].to, pairs.data[i].to_ns,
               pairs.data[i].exact);
    putchar(']');
    vec_deinit(&pairs);
}

static bool print_graph(const struct argus_graph *graph)
{
    char why[200];
    print_threads(graph);
    print_vertices(graph);
    print_edges(graph);
    print_uses(graph);
    print_pairs();
    print_rules(graph);
    const char *broken = graph_check(graph, why, sizeof(why));
    if (broken)
        fprintf(stderr, "raw_graph: %s\n", broken);
    return !broken;
}

static struct argus_error *print_file(const char *path, bool *ret_right)
{
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (!error) {
        *ret_right &= print_graph(graph);
        argus_graph_destroy(graph);
    }
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    bool right = true;
    for (int i = 1; i < argc; i++) {
        struct argus_error *error = print_file(argv[i], &right);
        if (!error)
            continue;
        fprintf(stderr, "raw_graph: %s\n", error->message);
        argus_error_destroy(error);
        return 1;
    }
    return right ? 0 : 1;
}
