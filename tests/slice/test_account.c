/* Accounting: to which thread time is charged, and that the sum is always right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "argus/slice.h"
#include "hand_graph.h"

/* The sum of the stretches of `vertex` in `state`. */
static uint64_t sum(const struct argus_account *account, uint32_t vertex,
                    enum argus_stretch_state state)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < account->count; i++)
        if (account->stretches[i].vertex == vertex && account->stretches[i].state == state)
            ns += account->stretches[i].end_ns - account->stretches[i].start_ns;
    return ns;
}

static void assert_tiles(const struct argus_account *account, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t at = from_ns;
    for (size_t i = 0; i < account->count; i++) {
        assert_int_equal(account->stretches[i].start_ns, at);
        assert_true(account->stretches[i].end_ns > at);
        assert_true(account->stretches[i].link < account->link_count);
        at = account->stretches[i].end_ns;
    }
    assert_int_equal(at, to_ns);
}

static struct argus_account account_of(struct argus_graph *graph, uint32_t thread, uint64_t from_ns,
                                       uint64_t to_ns)
{
    struct argus_account account;
    assert_null(argus_account(graph, thread, from_ns, to_ns, &account));
    assert_tiles(&account, from_ns, to_ns);
    return account;
}

/* client asks front, front asks back, back is busy. */
static void busy_two_hops_away(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t client = hand_thread(graph, "client");
    uint32_t asks = hand_vertex(graph, 0, 100, ARGUS_WAIT_READ);
    uint32_t answered = hand_vertex(graph, 1000, 1010, ARGUS_WAIT_NONE);
    hand_thread(graph, "front");
    uint32_t front = hand_vertex(graph, 98, 200, ARGUS_WAIT_READ);
    uint32_t front_done = hand_vertex(graph, 950, 1005, ARGUS_WAIT_READ);
    hand_thread(graph, "back");
    uint32_t back = hand_vertex(graph, 0, 960, ARGUS_WAIT_READ);
    hand_edge(graph, ARGUS_EDGE_WAKE, asks, front, 98);
    hand_edge(graph, ARGUS_EDGE_WAKE, back, front_done, 950);
    hand_edge(graph, ARGUS_EDGE_WAKE, front_done, answered, 1000);
    hand_graph_finish(graph, 2000);

    struct argus_account account = account_of(graph, client, 50, 1010);
    assert_int_equal(sum(&account, asks, ARGUS_STRETCH_RUNNING), 50);
    assert_int_equal(sum(&account, answered, ARGUS_STRETCH_RUNNING), 10);
    assert_int_equal(sum(&account, front, ARGUS_STRETCH_RUNNING), 100);
    assert_int_equal(sum(&account, front_done, ARGUS_STRETCH_RUNNING), 50);
    assert_int_equal(sum(&account, back, ARGUS_STRETCH_RUNNING), 750);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* A server polls many descriptors; a bystander wakes it repeatedly while the backend works for the
 * client. */
static void bystander_is_not_blamed(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t client = hand_thread(graph, "client");
    uint32_t asks = hand_vertex(graph, 0, 100, ARGUS_WAIT_READ);
    uint32_t answered = hand_vertex(graph, 1000, 1010, ARGUS_WAIT_NONE);
    hand_thread(graph, "server");
    uint32_t served[9];
    served[0] = hand_vertex(graph, 95, 110, ARGUS_WAIT_POLL);
    for (uint32_t i = 1; i < 9; i++)
        served[i] = hand_vertex(graph, 100 + i * 100, 105 + i * 100, ARGUS_WAIT_POLL);
    uint32_t reply = hand_vertex(graph, 990, 1001, ARGUS_WAIT_POLL);
    hand_thread(graph, "backend");
    uint32_t backend = hand_vertex(graph, 105, 995, ARGUS_WAIT_READ);
    uint32_t bystander = hand_thread(graph, "bystander");
    uint32_t ticks[10];
    for (uint32_t i = 0; i < 10; i++)
        ticks[i] = hand_vertex(graph, 98 + i * 100, 102 + i * 100, ARGUS_WAIT_SLEEP);
    hand_edge(graph, ARGUS_EDGE_WAKE, asks, served[0], 95);
    hand_edge(graph, ARGUS_EDGE_WAKE, served[0], backend, 105);
    for (uint32_t i = 1; i < 9; i++) {
        hand_edge(graph, ARGUS_EDGE_WAKE, ticks[i], served[i], 100 + i * 100);
        hand_edge(graph, ARGUS_EDGE_TIMER, ticks[i - 1], ticks[i], 102 + (i - 1) * 100);
    }
    hand_edge(graph, ARGUS_EDGE_WAKE, backend, reply, 990);
    hand_edge(graph, ARGUS_EDGE_WAKE, reply, answered, 1000);
    hand_graph_finish(graph, 2000);

    struct argus_account account = account_of(graph, client, 100, 1000);
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    for (size_t i = 0; i < account.count; i++)
        assert_int_not_equal(vertices[account.stretches[i].vertex].thread, bystander);
    assert_int_equal(sum(&account, backend, ARGUS_STRETCH_RUNNING), 885);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* The client asks a server itself, but its I/O thread receives the answer. A bystander wakes that
 * thread while the server's backend works. */
static void answer_comes_to_another_thread(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t client = hand_thread(graph, "client");
    uint32_t asks = hand_vertex(graph, 0, 100, ARGUS_WAIT_FUTEX);
    uint32_t answered = hand_vertex(graph, 1000, 1010, ARGUS_WAIT_NONE);
    hand_thread_beside(graph, client, "input");
    hand_vertex(graph, 0, 10, ARGUS_WAIT_POLL);
    uint32_t ticked = hand_vertex(graph, 500, 505, ARGUS_WAIT_POLL);
    uint32_t passes_on = hand_vertex(graph, 990, 1001, ARGUS_WAIT_POLL);
    hand_thread(graph, "server");
    uint32_t served = hand_vertex(graph, 95, 110, ARGUS_WAIT_POLL);
    uint32_t reply = hand_vertex(graph, 980, 995, ARGUS_WAIT_POLL);
    hand_thread(graph, "backend");
    uint32_t backend = hand_vertex(graph, 105, 985, ARGUS_WAIT_READ);
    hand_thread(graph, "bystander");
    uint32_t ticks = hand_vertex(graph, 498, 502, ARGUS_WAIT_SLEEP);
    hand_edge(graph, ARGUS_EDGE_WAKE, asks, served, 95);
    hand_edge(graph, ARGUS_EDGE_WAKE, served, backend, 105);
    hand_edge(graph, ARGUS_EDGE_WAKE, ticks, ticked, 500);
    hand_edge(graph, ARGUS_EDGE_WAKE, backend, reply, 980);
    hand_edge(graph, ARGUS_EDGE_WAKE, reply, passes_on, 990);
    hand_edge(graph, ARGUS_EDGE_WAKE, passes_on, answered, 1000);
    hand_graph_finish(graph, 2000);

    struct argus_account account = account_of(graph, client, 100, 1000);
    assert_int_equal(sum(&account, backend, ARGUS_STRETCH_RUNNING), 875);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* A wait ended by the waiter's own timer is charged to the waiter; one ended by another thread's
 * timer is charged to that thread from the time of arming. */
static void timers(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t sleeper = hand_thread(graph, "sleeper");
    uint32_t before = hand_vertex(graph, 0, 100, ARGUS_WAIT_SLEEP);
    uint32_t between = hand_vertex(graph, 300, 400, ARGUS_WAIT_READ);
    uint32_t after = hand_vertex(graph, 900, 950, ARGUS_WAIT_NONE);
    hand_thread(graph, "armer");
    uint32_t armer = hand_vertex(graph, 0, 700, ARGUS_WAIT_NONE);
    hand_edge(graph, ARGUS_EDGE_TIMER, before, between, 100);
    hand_edge(graph, ARGUS_EDGE_TIMER, armer, after, 600);
    hand_graph_finish(graph, 1000);

    struct argus_account account = account_of(graph, sleeper, 0, 950);
    assert_int_equal(sum(&account, before, ARGUS_STRETCH_WAITING), 200);
    assert_int_equal(sum(&account, armer, ARGUS_STRETCH_RUNNING), 200);
    assert_int_equal(sum(&account, between, ARGUS_STRETCH_WAITING), 300);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* The wait is charged to the disk since the request; before that to the requesting thread. */
static void disks(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t reader = hand_thread(graph, "reader");
    uint32_t before = hand_vertex(graph, 0, 100, ARGUS_WAIT_DISK);
    uint32_t after = hand_vertex(graph, 900, 950, ARGUS_WAIT_NONE);
    hand_thread(graph, "journal");
    uint32_t asker = hand_vertex(graph, 0, 700, ARGUS_WAIT_NONE);
    hand_edge(graph, ARGUS_EDGE_BLOCK, asker, after, 600);
    hand_graph_finish(graph, 1000);

    struct argus_account account = account_of(graph, reader, 100, 900);
    assert_int_equal(sum(&account, asker, ARGUS_STRETCH_RUNNING), 500);
    assert_int_equal(sum(&account, before, ARGUS_STRETCH_WAITING), 300);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* Time since the work was queued is charged to the kernel worker, also while it does other work;
 * earlier time to the thread that queued it. */
static void kernel_work(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t reader = hand_thread(graph, "reader");
    hand_vertex(graph, 0, 100, ARGUS_WAIT_READ);
    uint32_t answered = hand_vertex(graph, 900, 950, ARGUS_WAIT_NONE);
    hand_thread(graph, "kworker");
    uint32_t other = hand_vertex(graph, 0, 500, ARGUS_WAIT_NONE);
    uint32_t work = hand_vertex(graph, 500, 950, ARGUS_WAIT_NONE);
    hand_thread(graph, "writer");
    uint32_t writer = hand_vertex(graph, 0, 950, ARGUS_WAIT_NONE);
    hand_edge(graph, ARGUS_EDGE_WORK, writer, work, 400);
    hand_edge(graph, ARGUS_EDGE_WAKE, work, answered, 900);
    hand_graph_finish(graph, 1000);

    struct argus_account account = account_of(graph, reader, 100, 900);
    assert_int_equal(sum(&account, work, ARGUS_STRETCH_RUNNING), 400);
    assert_int_equal(sum(&account, other, ARGUS_STRETCH_RUNNING), 100);
    assert_int_equal(sum(&account, writer, ARGUS_STRETCH_RUNNING), 300);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* Running, runnable and the waits inside a yield run are distinguished, also if the window cuts the
 * vertex. */
static void parts_of_a_vertex(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t thread = hand_thread(graph, "looper");
    uint32_t v = hand_vertex(graph, 0, 1000, ARGUS_WAIT_NONE);
    hand_vertex_get(graph, v)->run_ns = 100;
    hand_vertex_get(graph, v)->runnable_ns = 300;
    hand_vertex_get(graph, v)->flags = ARGUS_VERTEX_YIELDS;
    hand_graph_finish(graph, 1000);

    struct argus_account account = account_of(graph, thread, 500, 1000);
    assert_int_equal(sum(&account, v, ARGUS_STRETCH_RUNNABLE), 150);
    assert_int_equal(sum(&account, v, ARGUS_STRETCH_RUNNING), 50);
    assert_int_equal(sum(&account, v, ARGUS_STRETCH_WAITING), 300);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* Two threads that wait for each other for ever: the walk still terminates. */
static void never_ended(void **state)
{
    (void)state;
    struct argus_graph *graph = hand_graph_create();
    uint32_t thread = hand_thread(graph, "a");
    uint32_t v = hand_vertex(graph, 0, 100, ARGUS_WAIT_READ);
    hand_graph_finish(graph, 1000);
    struct argus_account account = account_of(graph, thread, 50, 1000);
    assert_int_equal(sum(&account, v, ARGUS_STRETCH_RUNNING), 50);
    assert_int_equal(sum(&account, v, ARGUS_STRETCH_WAITING), 900);
    argus_account_deinit(&account);
    argus_graph_destroy(graph);
}

/* --- any graph --- */

static uint32_t random_state;

static uint32_t any(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static void add_random_thread(struct argus_graph *graph)
{
    uint64_t at = any(500);
    uint32_t count = 1 + any(30);
    hand_thread(graph, "any");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = at + any(200);
        uint32_t v = hand_vertex(graph, at, end, (enum argus_wait_kind)any(ARGUS_WAIT_OTHER + 1));
        struct argus_vertex *vertex = hand_vertex_get(graph, v);
        vertex->run_ns = end > at ? any((uint32_t)(end - at) + 1) : 0;
        vertex->runnable_ns = end - at - vertex->run_ns;
        vertex->flags = any(4) == 0   ? ARGUS_VERTEX_SPLIT
                        : any(4) == 0 ? ARGUS_VERTEX_YIELDS
                        : any(4) == 0 ? ARGUS_VERTEX_GAP
                                      : 0;
        at = end + any(300);
    }
}

/* Edges as the builder makes them: the cause is within its vertex and not later than its effect. */
static void add_random_edges(struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    for (uint32_t to = 0; to < count; to++) {
        for (int tries = 0; tries < 20; tries++) {
            uint32_t from = any((uint32_t)count);
            if (from == to || vertices[from].start_ns > vertices[to].start_ns)
                continue;
            uint64_t last = vertices[from].end_ns < vertices[to].start_ns ? vertices[from].end_ns
                                                                          : vertices[to].start_ns;
            uint64_t room = last - vertices[from].start_ns;
            static const enum argus_edge_kind kinds[] = {
                ARGUS_EDGE_WAKE, ARGUS_EDGE_TIMER, ARGUS_EDGE_WAKE, ARGUS_EDGE_WORK,
                ARGUS_EDGE_WAKE, ARGUS_EDGE_BLOCK, ARGUS_EDGE_WAKE, ARGUS_EDGE_WORK};
            hand_edge(graph, kinds[any(8)], from, to,
                      vertices[from].start_ns + (room ? any((uint32_t)room + 1) : 0));
            break;
        }
    }
}

static void any_graph_tiles(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 3000; seed++) {
        random_state = seed;
        struct argus_graph *graph = hand_graph_create();
        uint32_t threads = 1 + any(6);
        for (uint32_t i = 0; i < threads; i++)
            add_random_thread(graph);
        add_random_edges(graph);
        hand_graph_finish(graph, 20000);
        uint64_t from_ns = any(3000), to_ns = from_ns + any(5000);
        struct argus_account account = account_of(graph, any(threads), from_ns, to_ns);
        argus_account_deinit(&account);
        argus_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_two_hops_away),
        cmocka_unit_test(bystander_is_not_blamed),
        cmocka_unit_test(answer_comes_to_another_thread),
        cmocka_unit_test(timers),
        cmocka_unit_test(disks),
        cmocka_unit_test(kernel_work),
        cmocka_unit_test(parts_of_a_vertex),
        cmocka_unit_test(never_ended),
        cmocka_unit_test(any_graph_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
