/* One program that the kernel refuses is left out alone, and named. The refusal is real: the first instruction of the program reads
 * a register that nothing has written. Needs root and a kernel that takes BPF programs; skipped (77) otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "backend.h"
#include "linux/bpf_object.h"
#include "linux/kernel_btf.h"
#include "linux/program_load.h"
#include "linux/program_table.h"

/* r0 = *(u64 *)(r9 + 0) */
static const struct bpf_insn broken = {
    .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_9};

static struct btf *btf;

/* Overwrites the first instruction of the section, which is a program's; a relocation there would undo it. */
static void break_program(char *image, const char *section)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const char *names = image + sections[header->e_shstrndx].sh_offset;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, section) != 0)
            continue;
        memcpy(image + sections[i].sh_offset, &broken, sizeof(broken));
        return;
    }
    fail_msg("no section %s", section);
}

/* The plain build, in which the programs of these sections are broken. */
static struct bpf_image broken_image(const char *const *sections)
{
    const struct bpf_image *plain = &bpf_images[BPF_IMAGES - 1];
    size_t bytes = plain->end - plain->begin;
    char *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, plain->begin, bytes);
    for (; *sections; sections++)
        break_program(copy, *sections);
    return (struct bpf_image){"broken", NULL, copy, copy + bytes};
}

static struct argus_error *load(const char *const *sections, struct program_set *ret)
{
    struct backend_options options = {
        .ring_bytes = 8 << 20, .rate_hz = 99, .categories = CATEGORIES_ALL};
    struct bpf_image image = broken_image(sections);
    const struct program_request request = {.options = &options,
                                            .cpu_count = (uint32_t)libbpf_num_possible_cpus(),
                                            .slot_count = 4096,
                                            .image = &image};
    struct argus_error *error = program_set_load(&request, btf, ret);
    ret->image = NULL;
    free((char *)image.begin);
    return error;
}

static bool is_loaded(const struct program_set *set, const char *name)
{
    return bpf_program__fd(bpf_object__find_program_by_name(set->object, name)) >= 0;
}

static bool is_noted(const struct program_set *set, const char *text)
{
    for (size_t i = 0; i < set->notes.length; i++)
        if (strstr(set->notes.data[i], text))
            return true;
    return false;
}

static void one_refused_program_is_left_out_alone(void **state)
{
    (void)state;
    struct program_set set;
    struct argus_error *error = load((const char *[]){"raw_tp/workqueue_queue_work", NULL}, &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 1);
    assert_string_equal(set.refused.data[0].reason, "R9 !read_ok");
    assert_false(is_loaded(&set, "on_work_queued"));
    assert_true(is_loaded(&set, "on_work_start"));
    assert_true(is_loaded(&set, "on_switch"));
    assert_true(is_noted(&set, "the program on_work_queued was refused by this kernel: no edges of "
                               "work queues\tR9 !read_ok"));
    program_set_deinit(&set);
}

static void several_are_left_out_and_each_is_named(void **state)
{
    (void)state;
    struct program_set set;
    struct argus_error *error =
        load((const char *[]){"raw_tp/workqueue_queue_work", "raw_tp/softirq_exit",
                              "raw_tp/task_rename", NULL},
             &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 3);
    assert_true(is_noted(&set, "on_work_queued"));
    assert_true(is_noted(&set, "on_softirq_exit"));
    assert_true(is_noted(&set, "on_rename"));
    assert_true(is_loaded(&set, "on_sys_enter"));
    program_set_deinit(&set);
}

/* Both tracepoints inside socket calls do one thing: with one of them gone, the system calls have to tell of sockets. */
static void programs_that_work_together_go_together(void **state)
{
    (void)state;
    struct program_set set;
    if (kernel_btf_tracepoint_arguments(btf, "sock_send_length") < 0)
        skip();
    struct argus_error *error = load((const char *[]){"raw_tp/sock_send_length", NULL}, &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 1);
    assert_false(is_loaded(&set, "on_receive_length"));
    assert_true(is_loaded(&set, "on_data_ready"));
    program_set_deinit(&set);
}

static void without_a_required_program_nothing_is_loaded(void **state)
{
    (void)state;
    struct program_set set;
    struct argus_error *error = load((const char *[]){"raw_tp/sched_switch", NULL}, &set);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error->message, "on_switch"));
    assert_non_null(strstr(error->message, "R9 !read_ok"));
    argus_error_destroy(error);
    program_set_deinit(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_refused_program_is_left_out_alone),
        cmocka_unit_test(several_are_left_out_and_each_is_named),
        cmocka_unit_test(programs_that_work_together_go_together),
        cmocka_unit_test(without_a_required_program_nothing_is_loaded),
    };
    struct program_set set;
    struct argus_error *error = geteuid() ? NULL : kernel_btf_load(&btf);
    if (geteuid() == 0 && !error)
        error = load((const char *[]){NULL}, &set);
    if (geteuid() || error) {
        printf("skipped: %s\n", error ? error->message : "BPF needs root");
        return 77;
    }
    program_set_deinit(&set);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    btf__free(btf);
    return failed;
}
