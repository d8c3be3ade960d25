/* The paper's table 1: stacks A-B-D, A-B-D, A-C-D, A-C at four times, and the contents of the
 * registers after each. Argus's registers are sums (inference.h): for a function that has not
 * ended, its instance lasts from t_start to t_end so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "context/inference.h"

enum function { A, B, C, D, PROGRAM };

#define T1 100u
#define T2 250u
#define T3 420u
#define T4 700u

struct example {
    struct tree tree;
    struct inference inference;
    uint32_t program;
};

static void example_init(struct example *example)
{
    *example = (struct example){.inference.node = ARGUS_NONE};
    uint32_t root = tree_child(&example->tree, ARGUS_NONE, ARGUS_NONE);
    example->program = tree_child(&example->tree, root, PROGRAM);
}

static void example_deinit(struct example *example)
{
    tree_deinit(&example->tree);
}

static uint32_t node_of(struct example *example, const char *functions)
{
    uint32_t node = example->program;
    for (const char *at = functions; *at; at++)
        node = tree_child(&example->tree, node, (uint32_t)(*at - 'A'));
    return node;
}

static void moment(struct example *example, uint64_t time_ns, const char *functions)
{
    inference_moment(&example->inference, &example->tree, node_of(example, functions), time_ns);
}

static bool is_below(const struct example *example, uint32_t node, uint32_t above)
{
    while (node != ARGUS_NONE && node != above)
        node = example->tree.nodes.data[node].parent;
    return node == above;
}

/* The result of inference_sum() for the node of `functions` now, including its open instance. */
static struct argus_context_node sum_so_far(struct example *example, const char *functions)
{
    uint32_t above = node_of(example, functions);
    struct argus_context_node sum = {.count = 0};
    for (uint32_t i = 0; i < example->tree.nodes.length; i++) {
        const struct argus_context_node *node = &example->tree.nodes.data[i];
        if (!is_below(example, i, above))
            continue;
        sum.count += node->count;
        for (int k = 0; k < ARGUS_ESTIMATES; k++)
            sum.inferred_ns[k] += node->inferred_ns[k];
    }
    if (is_below(example, example->inference.node, above))
        for (int k = 0; k < ARGUS_ESTIMATES; k++)
            sum.inferred_ns[k] += example->inference.last_ns - example->inference.since_ns;
    return sum;
}

/* Register[depth] is (start_ns, end_ns, the last of `functions`), its first instance. */
static void expect_register(struct example *example, uint32_t depth, uint64_t start_ns,
                            uint64_t end_ns, const char *functions)
{
    uint32_t node = example->inference.node;
    while (example->tree.nodes.data[node].depth > depth + INFERENCE_FIRST_DEPTH)
        node = example->tree.nodes.data[node].parent;
    assert_int_equal(node, node_of(example, functions));
    assert_int_equal(example->inference.last_ns, end_ns);
    struct argus_context_node sum = sum_so_far(example, functions);
    assert_int_equal(sum.count, 1);
    assert_int_equal(sum.inferred_ns[ARGUS_CONSERVATIVE], end_ns - start_ns);
    assert_int_equal(sum.inferred_ns[ARGUS_AGGRESSIVE], end_ns - start_ns);
}

static void expect_registers(const struct example *example, size_t count)
{
    const struct argus_context_node *nodes = example->tree.nodes.data;
    assert_int_equal(nodes[example->inference.node].depth, count + INFERENCE_FIRST_DEPTH - 1);
}

/* The sum of instances that have ended. */
static void expect_latency(struct example *example, const char *functions, uint64_t count,
                           uint64_t conservative_ns, uint64_t aggressive_ns)
{
    assert_false(is_below(example, example->inference.node, node_of(example, functions)));
    struct argus_context_node sum = sum_so_far(example, functions);
    assert_int_equal(sum.count, count);
    assert_int_equal(sum.inferred_ns[ARGUS_CONSERVATIVE], conservative_ns);
    assert_int_equal(sum.inferred_ns[ARGUS_AGGRESSIVE], aggressive_ns);
}

static void test_table_1_of_the_paper(void **state)
{
    (void)state;
    struct example example;
    example_init(&example);

    moment(&example, T1, "ABD");
    expect_registers(&example, 3);
    expect_register(&example, 0, T1, T1, "A");
    expect_register(&example, 1, T1, T1, "AB");
    expect_register(&example, 2, T1, T1, "ABD");

    moment(&example, T2, "ABD");
    expect_registers(&example, 3);
    expect_register(&example, 0, T1, T2, "A");
    expect_register(&example, 1, T1, T2, "AB");
    expect_register(&example, 2, T1, T2, "ABD");

    moment(&example, T3, "ACD"); /* D stays at its depth, but is a new instance */
    expect_registers(&example, 3);
    expect_register(&example, 0, T1, T3, "A");
    expect_register(&example, 1, T3, T3, "AC");
    expect_register(&example, 2, T3, T3, "ACD");
    expect_latency(&example, "AB", 1, T2 - T1, T3 - T1);
    expect_latency(&example, "ABD", 1, T2 - T1, T3 - T1);

    moment(&example, T4, "AC");
    expect_registers(&example, 2);
    expect_register(&example, 0, T1, T4, "A");
    expect_register(&example, 1, T3, T4, "AC");
    expect_latency(&example, "ACD", 1, 0, T4 - T3);

    inference_end(&example.inference, &example.tree);
    expect_latency(&example, "A", 1, T4 - T1, T4 - T1);
    expect_latency(&example, "AC", 1, T4 - T3, T4 - T3);
    expect_latency(&example, "ABD", 1, T2 - T1, T3 - T1);

    inference_sum(&example.tree);
    const struct argus_context_node *a = &example.tree.nodes.data[node_of(&example, "A")];
    const struct argus_context_node *program = &example.tree.nodes.data[example.program];
    assert_int_equal(a->count, 1);
    assert_int_equal(a->inferred_ns[ARGUS_CONSERVATIVE], T4 - T1);
    assert_int_equal(program->count, 0);
    assert_int_equal(program->inferred_ns[ARGUS_AGGRESSIVE], T4 - T1);
    example_deinit(&example);
}

static void test_recursion_is_a_function_at_each_depth(void **state)
{
    (void)state;
    struct example example;
    example_init(&example);
    moment(&example, 10, "AAA");
    moment(&example, 20, "AA");
    moment(&example, 30, "AAA");
    inference_end(&example.inference, &example.tree);
    expect_latency(&example, "A", 1, 20, 20);
    expect_latency(&example, "AA", 1, 20, 20);
    expect_latency(&example, "AAA", 2, 0, 10);
    example_deinit(&example);
}

static void test_another_program_ends_everything(void **state)
{
    (void)state;
    struct example example;
    example_init(&example);
    moment(&example, 10, "AB");
    example.program = tree_child(&example.tree, 0, PROGRAM + 1);
    moment(&example, 30, "AB");
    moment(&example, 35, "AB");
    inference_end(&example.inference, &example.tree);
    expect_latency(&example, "AB", 1, 5, 5);
    example.program = tree_child(&example.tree, 0, PROGRAM);
    expect_latency(&example, "A", 1, 0, 20);
    example_deinit(&example);
}

static void test_a_path_has_one_index(void **state)
{
    (void)state;
    struct example example;
    example_init(&example);
    uint32_t abd = node_of(&example, "ABD"), acd = node_of(&example, "ACD");
    assert_int_not_equal(abd, acd);
    assert_int_equal(tree_path(&example.tree, abd), 0);
    assert_int_equal(tree_path(&example.tree, acd), 1);
    assert_int_equal(tree_path(&example.tree, node_of(&example, "ABD")), 0);
    assert_int_equal(example.tree.paths.data[1], acd);
    example_deinit(&example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_1_of_the_paper),
        cmocka_unit_test(test_recursion_is_a_function_at_each_depth),
        cmocka_unit_test(test_another_program_ends_everything),
        cmocka_unit_test(test_a_path_has_one_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
