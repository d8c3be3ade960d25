/* Only the program that the kernel refuses is left out, and a note names it. The refusal is real:
 * the first instruction of the program reads a register that nothing has written. Needs root and a
 * kernel that takes BPF programs; skipped (77) otherwise. */
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

#include "linux/load/bpf_object.h"
#include "linux/load/kernel_btf.h"
#include "linux/load/program_load.h"
#include "linux/load/program_table.h"
#include "server/backend.h"

/* r0 = *(u64 *)(r9 + 0) */
static const struct bpf_insn broken = {
    .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_9};

/* r0 = *(u64 *)(r10 + 8): valid anywhere in a function */
static const struct bpf_insn broken_inside = {
    .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_10, .off = 8};

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

/* A copy of the plain build. */
static struct bpf_image copy_image(void)
{
    const struct bpf_image *plain = &bpf_images[BPF_IMAGES - 1];
    size_t bytes = plain->end - plain->begin;
    char *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, plain->begin, bytes);
    return (struct bpf_image){"broken", NULL, copy, copy + bytes};
}

/* The plain build, in which the programs of these sections are broken. */
static struct bpf_image broken_image(const char *const *sections)
{
    struct bpf_image image = copy_image();
    for (; *sections; sections++)
        break_program((char *)image.begin, *sections);
    return image;
}

static const Elf64_Shdr *section_of_kind(const char *image, uint32_t kind)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    for (uint32_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == kind)
            return &sections[i];
    fail_msg("no section of kind %u", kind);
    return NULL;
}

static const Elf64_Sym *find_symbol(const char *image, const char *name)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const Elf64_Shdr *table = section_of_kind(image, SHT_SYMTAB);
    const Elf64_Sym *symbols = (const void *)(image + table->sh_offset);
    const char *names = image + sections[table->sh_link].sh_offset;
    for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
        if (strcmp(names + symbols[i].st_name, name) == 0)
            return &symbols[i];
    fail_msg("no function %s", name);
    return NULL;
}

/* Overwrites the last bounded() of a function: after the check of the setting by which the verifier
 * removes the rest. */
static void break_function(char *image, const char *name)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const Elf64_Sym *symbol = find_symbol(image, name);
    struct bpf_insn *code =
        (void *)(image + sections[symbol->st_shndx].sh_offset + symbol->st_value);
    for (size_t i = symbol->st_size / sizeof(*code); i > 0; i--)
        if (code[i - 1].code == (BPF_ALU64 | BPF_AND | BPF_K)) {
            code[i - 1] = broken_inside;
            return;
        }
    fail_msg("no mask in %s", name);
}

static struct argus_error *load_image(struct bpf_image image, const struct probe_list *probes,
                                      struct program_set *ret)
{
    struct backend_options options = {.ring_bytes = 8 << 20,
                                      .rate_hz = 99,
                                      .categories = CATEGORIES_ALL,
                                      .probes = probes,
                                      .late_ns = 500000};
    const struct program_request request = {.options = &options,
                                            .cpu_count = (uint32_t)libbpf_num_possible_cpus(),
                                            .slot_count = 4096,
                                            .image = &image};
    struct argus_error *error = program_set_load(&request, btf, ret);
    ret->image = NULL;
    free((char *)image.begin);
    return error;
}

static struct argus_error *load(const char *const *sections, struct program_set *ret)
{
    return load_image(broken_image(sections), NULL, ret);
}

/* An interpreter is known, so the code that reads its frames is loaded. */
static struct argus_error *load_with_interpreter(struct bpf_image image, struct program_set *ret)
{
    struct interpreter_spec spec = {.image = "/usr/bin/interpreter"};
    struct probe_list probes = {.interpreters = {.data = &spec, .length = 1, .capacity = 1}};
    return load_image(image, &probes, ret);
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

/* Both tracepoints inside socket calls are needed together: if one is missing, sockets are read at
 * the end of system calls. */
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

#define NO_NAMES                                                                                   \
    "what reads the frames of interpreters was refused by this kernel: no functions of Python "    \
    "programs in stacks\t"

static void what_reads_interpreters_is_left_out_alone(void **state)
{
    (void)state;
    struct program_set set;
    struct bpf_image image = copy_image();
    break_function((char *)image.begin, "interpreter_step");
    struct argus_error *error = load_with_interpreter(image, &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 0);
    assert_non_null(set.interpreters_refused);
    assert_true(is_loaded(&set, "on_switch"));
    assert_true(is_noted(&set, NO_NAMES));
    program_set_deinit(&set);
}

/* A program that is refused for another reason does not disable interpreter names. */
static void interpreters_are_read_beside_a_refused_program(void **state)
{
    (void)state;
    struct program_set set;
    struct bpf_image image = broken_image((const char *[]){"raw_tp/workqueue_queue_work", NULL});
    struct argus_error *error = load_with_interpreter(image, &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 1);
    assert_null(set.interpreters_refused);
    assert_true(is_noted(&set, "on_work_queued"));
    assert_false(is_noted(&set, "interpreters"));
    program_set_deinit(&set);
}

static void both_are_left_out(void **state)
{
    (void)state;
    struct program_set set;
    struct bpf_image image = broken_image((const char *[]){"raw_tp/workqueue_queue_work", NULL});
    break_function((char *)image.begin, "interpreter_step");
    struct argus_error *error = load_with_interpreter(image, &set);
    assert_null(error);
    assert_int_equal(set.refused.length, 1);
    assert_true(is_noted(&set, "on_work_queued"));
    assert_true(is_noted(&set, NO_NAMES));
    program_set_deinit(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_refused_program_is_left_out_alone),
        cmocka_unit_test(several_are_left_out_and_each_is_named),
        cmocka_unit_test(programs_that_work_together_go_together),
        cmocka_unit_test(without_a_required_program_nothing_is_loaded),
        cmocka_unit_test(what_reads_interpreters_is_left_out_alone),
        cmocka_unit_test(interpreters_are_read_beside_a_refused_program),
        cmocka_unit_test(both_are_left_out),
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
