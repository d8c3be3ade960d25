/* Reading the BTF of other kernels than this machine's: the preemption count has moved twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include <bpf/btf.h>

#include "recorder/linux/load/kernel_btf.h"

struct fixture {
    struct btf *btf;
    int int_id;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture.btf = btf__new_empty();
    fixture.int_id = btf__add_int(fixture.btf, "int", 4, BTF_INT_SIGNED);
    assert_true(fixture.int_id > 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    btf__free(fixture->btf);
    return 0;
}

struct variable {
    const char *name;
    int type;
    uint32_t offset, bytes;
};

/* The per-cpu section with these variables. */
static void add_section(struct btf *btf, const struct variable *variables, size_t count)
{
    int ids[8];
    for (size_t i = 0; i < count; i++)
        ids[i] = btf__add_var(btf, variables[i].name, BTF_VAR_GLOBAL_ALLOCATED, variables[i].type);
    assert_true(btf__add_datasec(btf, ".data..percpu", 0x10000) > 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            btf__add_datasec_var_info(btf, ids[i], variables[i].offset, variables[i].bytes), 0);
}

/* `typedef void (*btf_trace_NAME)(void *, …)` with `count` arguments after the first. */
static void add_tracepoint(struct fixture *fixture, const char *name, int count)
{
    char type_name[64];
    int proto = btf__add_func_proto(fixture->btf, 0);
    for (int i = 0; i < count + 1; i++)
        assert_int_equal(btf__add_func_param(fixture->btf, NULL, fixture->int_id), 0);
    int pointer = btf__add_ptr(fixture->btf, proto);
    snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
    assert_true(btf__add_typedef(fixture->btf, type_name, pointer) > 0);
}

static void a_variable_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    const struct variable variables[] = {
        {"__preempt_count", fixture->int_id, 86064, 4},
        {"hrtimer_bases", fixture->int_id, 115072, 640},
    };
    struct bpf_settings settings = {0};
    add_section(fixture->btf, variables, 2);
    kernel_btf_fill(fixture->btf, &settings);
    assert_true(settings.has_preempt_count);
    assert_int_equal(settings.preempt_count_offset, 86064 - 115072);
}

/* Linux 6.2 to 6.14: struct pcpu_hot { union { struct { current_task; preempt_count; … }; u8 pad[64]; }; } */
static void inside_pcpu_hot(void **state)
{
    struct fixture *fixture = *state;
    struct btf *btf = fixture->btf;
    int pointer = btf__add_ptr(btf, 0);
    int inner = btf__add_struct(btf, NULL, 64);
    btf__add_field(btf, "current_task", pointer, 0, 0);
    btf__add_field(btf, "preempt_count", fixture->int_id, 64, 0);
    int both = btf__add_union(btf, NULL, 64);
    btf__add_field(btf, NULL, inner, 0, 0);
    int hot = btf__add_struct(btf, "pcpu_hot", 64);
    btf__add_field(btf, NULL, both, 0, 0);
    const struct variable variables[] = {
        {"hrtimer_bases", fixture->int_id, 1000, 640},
        {"pcpu_hot", hot, 5000, 64},
    };
    struct bpf_settings settings = {0};
    add_section(btf, variables, 2);
    kernel_btf_fill(btf, &settings);
    assert_true(settings.has_preempt_count);
    assert_int_equal(settings.preempt_count_offset, 5000 + 8 - 1000);
}

static void a_kernel_that_does_not_list_it(void **state)
{
    struct fixture *fixture = *state;
    const struct variable variables[] = {{"hrtimer_bases", fixture->int_id, 1000, 640}};
    struct bpf_settings settings = {.has_preempt_count = 1, .preempt_count_offset = 7};
    add_section(fixture->btf, variables, 1);
    kernel_btf_fill(fixture->btf, &settings);
    assert_false(settings.has_preempt_count);
    assert_int_equal(settings.preempt_count_offset, 0);
}

static void tracepoints_and_their_arguments(void **state)
{
    struct fixture *fixture = *state;
    struct bpf_settings settings = {0};
    add_tracepoint(fixture, "sched_switch", 3);
    add_tracepoint(fixture, "sched_waking", 1);
    assert_int_equal(kernel_btf_tracepoint_arguments(fixture->btf, "sched_switch"), 3);
    assert_int_equal(kernel_btf_tracepoint_arguments(fixture->btf, "sched_waking"), 1);
    assert_int_equal(kernel_btf_tracepoint_arguments(fixture->btf, "hrtimer_start"), -1);
    kernel_btf_fill(fixture->btf, &settings);
    assert_false(settings.state_is_argument); /* before 5.18 */
}

static void since_5_18_the_state_is_an_argument(void **state)
{
    struct fixture *fixture = *state;
    struct bpf_settings settings = {0};
    add_tracepoint(fixture, "sched_switch", 4);
    kernel_btf_fill(fixture->btf, &settings);
    assert_true(settings.state_is_argument);
}

static void helpers_by_name(void **state)
{
    struct fixture *fixture = *state;
    assert_false(kernel_btf_has_helper(fixture->btf, "BPF_FUNC_get_attach_cookie"));
    assert_true(btf__add_enum(fixture->btf, "bpf_func_id", 4) > 0);
    assert_int_equal(btf__add_enum_value(fixture->btf, "BPF_FUNC_task_pt_regs", 175), 0);
    assert_false(kernel_btf_has_helper(fixture->btf, "BPF_FUNC_get_attach_cookie"));
    assert_int_equal(btf__add_enum_value(fixture->btf, "BPF_FUNC_get_attach_cookie", 174), 0);
    assert_true(kernel_btf_has_helper(fixture->btf, "BPF_FUNC_get_attach_cookie"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_variable_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inside_pcpu_hot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_that_does_not_list_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tracepoints_and_their_arguments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(helpers_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(since_5_18_the_state_is_an_argument, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
