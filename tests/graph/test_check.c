/* The invariants detect errors: a graph of random records is damaged in one place at a time, and
 * argus_graph_verify() must detect each damage. It must never read outside the arrays, whatever
 * they contain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/inspect.h"
#include "event/tracepoints.h"
#include "graph/graph_data.h"

enum { RECORDS = 4000, THREADS = 8 };

/* xorshift64: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct fixture {
    struct argus_trace *trace;
    struct argus_graph *graph;
    int fd;
};

/* --- a graph with something in each array --- */

/* The most frequent records: waits, wake-ups, sends and receives, samples. */
static struct argus_record random_record(uint64_t *state, uint64_t now)
{
    static const uint32_t kinds[] = {
        ARGUS_ID_SWITCH,
        ARGUS_ID_SWITCH,
        ARGUS_ID_MAKE_RUNNABLE,
        ARGUS_ID_MAKE_RUNNABLE,
        ARGUS_ID_SAMPLE,
        ARGUS_ID_OBJECT,
        ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_START,
        ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_END,
        ARGUS_ID_SYSCALL(7) | ARGUS_FUNC_START,
        ARGUS_ID_READY,
        ARGUS_ID_SYSCALL(7) | ARGUS_FUNC_END,
        ARGUS_ID_MESSAGE,
        ARGUS_ID_CALLBACK | ARGUS_FUNC_START,
        ARGUS_ID_CALLBACK | ARGUS_FUNC_END,
        ARGUS_ID_STACK,
        ARGUS_ID_HANDLER,
        ARGUS_ID_HANDLER,
    };
    struct argus_record record = {
        .timestamp = now,
        .debugid = kinds[next_random(state) % (sizeof(kinds) / sizeof(*kinds))],
        .tid = 1 + next_random(state) % THREADS,
        .cpu = 0,
        .arg = {1 + next_random(state) % THREADS, 1 + next_random(state) % THREADS,
                next_random(state) % 2, 0},
    };
    if (record.debugid == ARGUS_ID_SWITCH)
        record.arg[0] = next_random(state) % 4 ? 1 : 0;
    if (record.debugid == ARGUS_ID_STACK || record.debugid == ARGUS_ID_SAMPLE)
        record.arg[0] = record.arg[1] = 77;
    if (record.debugid == ARGUS_ID_MESSAGE) {
        record.arg[1] = ARGUS_MESSAGE_WHAT(1, 1, record.arg[2] ? 1 : 2);
        record.arg[2] = 0;
        record.arg[0] = 5;
    }
    return record;
}

static void write_records(struct argus_writer *writer)
{
    uint64_t state = 88172645463325252u, now = 1000000;
    static struct argus_record records[RECORDS];
    uint64_t current = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        now += 100 + next_random(&state) % 100000;
        records[i] = random_record(&state, now);
        records[i].tid = current;
        if (records[i].debugid == ARGUS_ID_SWITCH)
            current = records[i].arg[1];
    }
    assert_null(argus_writer_records(writer, 0, records, RECORDS, 0));
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct argus_trace_header header = {
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 1,
        .version_major = ARGUS_TRACE_VERSION_MAJOR,
    };
    uint64_t frames[] = {0x1000, 0x2000};
    char path[32];
    struct argus_writer *writer;
    fixture.fd = memfd_create("test_check", MFD_CLOEXEC);
    assert_true(fixture.fd >= 0);
    assert_null(argus_writer_create(fixture.fd, &header, &writer));
    assert_null(argus_writer_stack(writer, 77, frames, 2));
    write_records(writer);
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fixture.fd);
    assert_null(argus_trace_open(path, &fixture.trace));
    assert_null(argus_graph_build(fixture.trace, NULL, NULL, NULL, &fixture.graph));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    argus_graph_destroy(fixture->graph);
    argus_trace_close(fixture->trace);
    close(fixture->fd);
    return 0;
}

static uint64_t violations(const struct argus_graph *graph)
{
    struct argus_verification verification;
    assert_null(argus_graph_verify(graph, 3, &verification));
    uint64_t count = verification.violations;
    assert_true(verification.example_count <= 3);
    assert_true(count == 0 || verification.example_count > 0);
    argus_verification_deinit(&verification);
    return count;
}

/* --- damages --- */

enum array {
    VERTICES,
    EDGES,
    THREADS_OF_GRAPH,
    IN_FIRST,
    OUT_FIRST,
    OUT_EDGES,
    CALLBACKS,
    DETAILS,
    SAMPLES,
    USES,
    RULES
};

static void *element_of(struct argus_graph *graph, enum array array, size_t id, size_t *ret_count,
                        size_t *ret_bytes)
{
#define PLACE(elements, length)                                                                    \
    (*ret_count = (length), *ret_bytes = sizeof(*(elements)), (void *)((elements) + id))
    switch (array) {
    case VERTICES:
        return PLACE(graph->vertices.data, graph->vertices.length);
    case EDGES:
        return PLACE(graph->edges.data, graph->edges.length);
    case THREADS_OF_GRAPH:
        return PLACE(graph->machine.threads.data, graph->machine.threads.length);
    case IN_FIRST:
        return PLACE(graph->in_first, graph->vertices.length + 1);
    case OUT_FIRST:
        return PLACE(graph->out_first, graph->vertices.length + 1);
    case OUT_EDGES:
        return PLACE(graph->out_edges, graph->edges.length);
    case CALLBACKS:
        return PLACE(graph->callbacks.data, graph->callbacks.length);
    case DETAILS:
        return PLACE(graph->details.data, graph->details.length);
    case SAMPLES:
        return PLACE(graph->samples.data, graph->samples.length);
    case USES:
        return PLACE(graph->uses.data, graph->uses.length);
    case RULES:
        return PLACE(graph->rules, graph->rule_count);
    }
    return NULL;
#undef PLACE
}

/* One way to damage an element, which then violates an invariant; false if the element cannot be
 * damaged in this way. */
struct damage {
    const char *name;
    enum array array;
    bool (*apply)(const struct argus_graph *graph, void *element, size_t id);
};

#define DAMAGE(function, type, ...)                                                                \
    static bool function(const struct argus_graph *graph, void *element, size_t id)                \
    {                                                                                              \
        type *e = element;                                                                         \
        (void)graph, (void)id, (void)e;                                                            \
        __VA_ARGS__;                                                                               \
        return true;                                                                               \
    }

DAMAGE(vertex_thread_far, struct argus_vertex, e->thread = UINT32_MAX)
DAMAGE(vertex_thread_other, struct argus_vertex, e->thread ^= 1)
DAMAGE(vertex_dead, struct argus_vertex, e->repeat = 0)
DAMAGE(vertex_start_late, struct argus_vertex, e->start_ns = e->end_ns + 1)
DAMAGE(vertex_end_late, struct argus_vertex, e->end_ns = graph->end_ns + 1)
DAMAGE(vertex_wait_late, struct argus_vertex, if (!e->wait.kind) return false;
       e->wait.end_ns = graph->end_ns + 1)
DAMAGE(vertex_wait_early, struct argus_vertex, if (!e->wait.kind) return false;
       e->wait.end_ns = e->end_ns - 1)
DAMAGE(vertex_overlaps, struct argus_vertex,
       if (!e->wait.kind || id + 1 == graph->vertices.length ||
           e[1].thread != e->thread) return false;
       e->wait.end_ns = e[1].start_ns + 1)
DAMAGE(vertex_runs_long, struct argus_vertex, e->run_ns = e->end_ns - e->start_ns + 1)
DAMAGE(vertex_runs_forever, struct argus_vertex, e->run_ns = UINT64_MAX; e->runnable_ns = 2)
DAMAGE(vertex_ops_far, struct argus_vertex, e->first_op = UINT32_MAX)
DAMAGE(vertex_ops_many, struct argus_vertex, e->op_count = UINT32_MAX)
DAMAGE(vertex_samples_far, struct argus_vertex, e->first_sample = UINT32_MAX)
DAMAGE(vertex_samples_many, struct argus_vertex, e->sample_count = UINT32_MAX)
DAMAGE(vertex_wait_kind, struct argus_vertex, e->wait.kind = 200; e->wait.end_ns = e->end_ns)
DAMAGE(vertex_wait_outcome, struct argus_vertex, e->wait.outcome = 200)
DAMAGE(vertex_wait_stack, struct argus_vertex, e->wait.user_stack = UINT32_MAX - 1)
DAMAGE(vertex_wait_kernel_stack, struct argus_vertex, e->wait.kernel_stack = 1u << 31)
DAMAGE(vertex_wait_detail, struct argus_vertex, e->wait.first_detail = UINT32_MAX - 1)
DAMAGE(edge_from_far, struct argus_edge, e->from = UINT32_MAX)
DAMAGE(edge_to_far, struct argus_edge, e->to = (uint32_t)graph->vertices.length)
DAMAGE(edge_loop, struct argus_edge, e->to = e->from)
DAMAGE(edge_from_other, struct argus_edge, e->from = e->from ? e->from - 1 : e->from + 1)
DAMAGE(edge_to_other, struct argus_edge, e->to = e->to ? e->to - 1 : e->to + 1)
DAMAGE(edge_cause_early, struct argus_edge, e->from_ns = graph->vertices.data[e->from].start_ns - 1)
DAMAGE(edge_cause_late, struct argus_edge, e->from_ns = graph->vertices.data[e->from].end_ns + 1)
DAMAGE(edge_effect_early, struct argus_edge, e->to_ns = graph->vertices.data[e->to].start_ns - 1)
DAMAGE(edge_effect_late, struct argus_edge, e->to_ns = graph->vertices.data[e->to].end_ns + 1)
DAMAGE(edge_kind, struct argus_edge, e->kind = ARGUS_EDGE_KINDS)
DAMAGE(edge_rule_far, struct argus_edge, e->rule = UINT16_MAX)
DAMAGE(edge_rule_other, struct argus_edge,
       e->rule = e->rule == RULE_WAKE_TASK ? RULE_TIMER : RULE_WAKE_TASK)
DAMAGE(edge_stack, struct argus_edge, e->stack = UINT32_MAX - 1)
DAMAGE(edge_sequence, struct argus_edge,
       if (e->from + 1 == e->to &&
           graph->vertices.data[e->from].thread == graph->vertices.data[e->to].thread) return false;
       e->kind = ARGUS_EDGE_SEQUENCE)
DAMAGE(thread_process, struct argus_thread, e->process = UINT32_MAX)
DAMAGE(thread_vertices_far, struct argus_thread, e->first_vertex = UINT32_MAX)
DAMAGE(thread_vertices_more, struct argus_thread, e->vertex_count++)
DAMAGE(thread_vertices_fewer, struct argus_thread, if (!e->vertex_count) return false;
       e->vertex_count--)
DAMAGE(thread_vertices_shifted, struct argus_thread, if (!e->vertex_count) return false;
       e->first_vertex++)
DAMAGE(first_more, uint32_t, ++*e)
DAMAGE(first_fewer, uint32_t, --*e)
DAMAGE(first_far, uint32_t, *e = UINT32_MAX)
DAMAGE(out_far, uint32_t, *e = UINT32_MAX)
DAMAGE(out_other, uint32_t, *e ^= 1)
DAMAGE(out_twice, uint32_t, if (id == 0) return false; *e = e[-1])
DAMAGE(callback_far, struct argus_callback, e->vertex = UINT32_MAX)
DAMAGE(callback_what, struct argus_callback, e->what = 100)
DAMAGE(callback_order, struct argus_callback,
       if (id == 0 || !e[-1].time_ns || e[-1].vertex != e->vertex) return false;
       e->time_ns = 0)
DAMAGE(detail_far, struct argus_wait_detail, e->next = UINT32_MAX - 1)
DAMAGE(detail_loop, struct argus_wait_detail, e->next = (uint32_t)id)
DAMAGE(detail_kind, struct argus_wait_detail, e->kind = 100)
DAMAGE(sample_stack, struct argus_sample, e->user_stack = UINT32_MAX - 1)
DAMAGE(sample_kernel_stack, struct argus_sample, e->kernel_stack = UINT32_MAX - 1)
DAMAGE(use_thread, struct argus_object_use, e->thread = UINT32_MAX)
DAMAGE(use_order, struct argus_object_use, if (id + 1 == graph->uses.length) return false;
       e->inode = UINT64_MAX)
DAMAGE(rule_count, struct argus_rule, if (strcmp(e->stage, "edge") != 0) return false; e->count++)

static const struct damage damages[] = {
#define ROW(function, array)                                                                       \
    {                                                                                              \
#function, array, function                                                                 \
    }
    ROW(vertex_thread_far, VERTICES),
    ROW(vertex_thread_other, VERTICES),
    ROW(vertex_dead, VERTICES),
    ROW(vertex_start_late, VERTICES),
    ROW(vertex_end_late, VERTICES),
    ROW(vertex_wait_late, VERTICES),
    ROW(vertex_wait_early, VERTICES),
    ROW(vertex_overlaps, VERTICES),
    ROW(vertex_runs_long, VERTICES),
    ROW(vertex_runs_forever, VERTICES),
    ROW(vertex_ops_far, VERTICES),
    ROW(vertex_ops_many, VERTICES),
    ROW(vertex_samples_far, VERTICES),
    ROW(vertex_samples_many, VERTICES),
    ROW(vertex_wait_kind, VERTICES),
    ROW(vertex_wait_outcome, VERTICES),
    ROW(vertex_wait_stack, VERTICES),
    ROW(vertex_wait_kernel_stack, VERTICES),
    ROW(vertex_wait_detail, VERTICES),
    ROW(edge_from_far, EDGES),
    ROW(edge_to_far, EDGES),
    ROW(edge_loop, EDGES),
    ROW(edge_from_other, EDGES),
    ROW(edge_to_other, EDGES),
    ROW(edge_cause_early, EDGES),
    ROW(edge_cause_late, EDGES),
    ROW(edge_effect_early, EDGES),
    ROW(edge_effect_late, EDGES),
    ROW(edge_kind, EDGES),
    ROW(edge_rule_far, EDGES),
    ROW(edge_rule_other, EDGES),
    ROW(edge_stack, EDGES),
    ROW(edge_sequence, EDGES),
    ROW(thread_process, THREADS_OF_GRAPH),
    ROW(thread_vertices_far, THREADS_OF_GRAPH),
    ROW(thread_vertices_more, THREADS_OF_GRAPH),
    ROW(thread_vertices_fewer, THREADS_OF_GRAPH),
    ROW(thread_vertices_shifted, THREADS_OF_GRAPH),
    ROW(first_more, IN_FIRST),
    ROW(first_fewer, IN_FIRST),
    ROW(first_far, IN_FIRST),
    ROW(first_more, OUT_FIRST),
    ROW(first_fewer, OUT_FIRST),
    ROW(first_far, OUT_FIRST),
    ROW(out_far, OUT_EDGES),
    ROW(out_other, OUT_EDGES),
    ROW(out_twice, OUT_EDGES),
    ROW(callback_far, CALLBACKS),
    ROW(callback_what, CALLBACKS),
    ROW(callback_order, CALLBACKS),
    ROW(detail_far, DETAILS),
    ROW(detail_loop, DETAILS),
    ROW(detail_kind, DETAILS),
    ROW(sample_stack, SAMPLES),
    ROW(sample_kernel_stack, SAMPLES),
    ROW(use_thread, USES),
    ROW(use_order, USES),
    ROW(rule_count, RULES),
#undef ROW
};

/* Places at which each damage is tried, spread over the array; its first and last element are among them. */
enum { PLACES = 40 };

static void try_damage(struct argus_graph *graph, const struct damage *damage)
{
    size_t count, bytes, tried = 0;
    unsigned char kept[512];
    element_of(graph, damage->array, 0, &count, &bytes);
    assert_true(count > 0 && bytes <= sizeof(kept));
    size_t places = count < PLACES ? count : PLACES;
    for (size_t i = 0; i < places; i++) {
        size_t id = places > 1 ? i * (count - 1) / (places - 1) : 0;
        void *element = element_of(graph, damage->array, id, &count, &bytes);
        memcpy(kept, element, bytes);
        if (!damage->apply(graph, element, id))
            continue;
        tried++;
        if (memcmp(kept, element, bytes) != 0 && !violations(graph))
            fail_msg("%s at %zu of %zu is not found", damage->name, id, count);
        memcpy(element, kept, bytes);
    }
    if (!tried)
        fail_msg("%s could not be tried anywhere: the graph has nothing for it", damage->name);
}

static void test_damage_is_found(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(violations(fixture->graph), 0);
    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
        try_damage(fixture->graph, &damages[i]);
    assert_int_equal(violations(fixture->graph), 0);
}

/* Swaps two elements, so that the lists are out of order. */
static void test_swapped_edges_are_found(void **state)
{
    struct fixture *fixture = *state;
    struct argus_graph *graph = fixture->graph;
    size_t tried = 0;
    for (size_t i = 1; i < graph->edges.length; i++) {
        struct argus_edge *edge = &graph->edges.data[i];
        if (edge[-1].to == edge->to)
            continue;
        struct argus_edge kept[2] = {edge[-1], edge[0]};
        edge[-1] = kept[1];
        edge[0] = kept[0];
        assert_true(violations(graph) > 0);
        edge[-1] = kept[0];
        edge[0] = kept[1];
        tried++;
    }
    assert_true(tried > 100);
}

/* Any bytes in any array: the result does not matter, but nothing outside may be read (checked by
 * the sanitizers). */
static void test_any_bytes_are_looked_at_safely(void **state)
{
    struct fixture *fixture = *state;
    static const enum array arrays[] = {VERTICES,  EDGES,   IN_FIRST, OUT_FIRST, OUT_EDGES,
                                        CALLBACKS, DETAILS, SAMPLES,  USES};
    uint64_t random = 1234567;
    for (int round = 0; round < 3000; round++) {
        size_t count, bytes;
        enum array array = arrays[next_random(&random) % (sizeof(arrays) / sizeof(*arrays))];
        element_of(fixture->graph, array, 0, &count, &bytes);
        if (!count)
            continue;
        size_t id = next_random(&random) % count;
        uint32_t *word = element_of(fixture->graph, array, id, &count, &bytes);
        word += next_random(&random) % (bytes / sizeof(*word));
        uint32_t kept = *word;
        *word = round % 2 ? (uint32_t)next_random(&random) : kept + 1;
        violations(fixture->graph);
        *word = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_swapped_edges_are_found),
        cmocka_unit_test(test_any_bytes_are_looked_at_safely),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
