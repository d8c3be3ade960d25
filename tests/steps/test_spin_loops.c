/* Busy loops that wait for a variable, told from loops that do something, in code of real compilers.
 * test_spin_loops PROGRAM: spin_shapes.c. A sample may be at any instruction of a loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "loop_flags_text.h"

static const char *program_path;

/* The variables that end the loop; "?" if more may end it; NULL: the loop does not only wait. Which
 * variables a function of another file has is the same at any instruction of the loop. */
static const struct {
    const char *name, *expected, *alternative;
} shapes[] = {
    {"spin_plain", "is_done", NULL},
    {"spin_field", "settings+0xc", NULL},
    {"spin_pointer", "window->0x8", NULL},
    {"spin_function", "is_atomic", NULL},
    {"spin_all", "pending[i]", NULL},
    {"spin_delay", "is_done", NULL},
    {"spin_bounded", "is_done", NULL},
    {"spin_clock", "is_done", NULL},
    {"spin_yield", "is_done", NULL},
    {"spin_lock_exchange", "spin_lock", NULL},
    {"spin_lock_compare", "spin_lock", "spin_lock?"},
    {"spin_either", "is_done or is_open", "is_open or is_done"},
    {"spin_inside", "is_done", NULL},
    {"work_sum", NULL, NULL},
    {"work_prime", NULL, NULL},
    {"work_store", NULL, NULL},
    {"work_count", NULL, NULL},
    {"work_tickets", NULL, NULL},
    {"work_library", NULL, NULL},
    {"work_function", NULL, NULL},
    {"work_list", NULL, NULL},
    {"work_pause", NULL, NULL},
    {"work_callback", NULL, NULL},
};

static bool find_symbol(struct elf_file *file, const char *name, uint64_t *start, uint64_t *bytes)
{
    uint64_t first, offset;
    size_t all;
    assert_non_null(elf_file_code(file, 0, &first, &all));
    for (uint64_t at = first; at < first + all; at++) {
        const char *found = elf_file_function(file, at, &offset);
        if (found && offset == 0 && strcmp(found, name) == 0)
            return elf_file_function_range(file, at, start, bytes);
    }
    return false;
}

/* The pairs of loads and stores of arm64 that exchange a value are not understood, nor are sums in
 * some code, in which the variable is then not found. */
static const char *expected_of(const struct elf_file *file, size_t shape)
{
    bool is_exchange = strncmp(shapes[shape].name, "spin_lock", strlen("spin_lock")) == 0;
    bool is_arm64 = elf_file_machine(file) == ELF_MACHINE_AARCH64;
    bool is_sum = strcmp(shapes[shape].name, "spin_all") == 0;
    bool is_known = !is_arm64 && !strstr(program_path, "_O1");
    return (is_exchange && is_arm64) || (is_sum && !is_known) ? NULL : shapes[shape].expected;
}

static bool is_expected(const char *expected, size_t shape, const char *text)
{
    const char *other = shapes[shape].alternative;
    return expected && (strcmp(text, expected) == 0 || (other && strcmp(text, other) == 0));
}

/* At every address of the function: none with a wrong answer. */
static bool check_shape(struct elf_file *file, size_t shape)
{
    uint64_t start, bytes;
    unsigned told = 0;
    const char *expected = expected_of(file, shape);
    bool is_arm64 = elf_file_machine(file) == ELF_MACHINE_AARCH64;
    assert_true(find_symbol(file, shapes[shape].name, &start, &bytes));
    for (uint64_t at = start; at < start + bytes; at++) {
        char text[256];
        struct loop_flags flags;
        struct loop_frame frame = {.file = file, .address = at};
        if (!loop_flags_find_spin(&frame, 1, is_arm64, NULL, &flags))
            continue;
        told++;
        loop_flags_describe(&flags, text, sizeof(text));
        if (is_expected(expected, shape, text))
            continue;
        print_error("%s+0x%llx: expected %s, found %s\n", shapes[shape].name,
                    (unsigned long long)(at - start), expected ? expected : "nothing", text);
        return false;
    }
    if (!told && expected)
        print_error("%s: expected %s, found nothing\n", shapes[shape].name, expected);
    return told || !expected;
}

static void test_shapes(void **state)
{
    (void)state;
    unsigned wrong = 0;
    bool stale;
    struct elf_file *file = elf_file_open(program_path, &(struct elf_identity){0}, &stale);
    assert_non_null(file);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        wrong += !check_shape(file, i);
    elf_file_close(file);
    assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    program_path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
