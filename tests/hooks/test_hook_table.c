/* The words of a table; and that hook_words.c places the registers where the runtime saves them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "argus/record.h"
#include "argus_hook.h"
#include "hook_table.h"

static void test_values(void **state)
{
    struct hook_value value;
    (void)state;
    assert_true(hook_word_value(HOOK_ARCH_X86_64, "rdi->16->-8:s32", &value));
    assert_int_equal(value.steps, 2);
    assert_int_equal(value.offsets[0], 16);
    assert_int_equal(value.offsets[1], -8);
    assert_int_equal(value.bytes, 4);
    assert_int_equal(value.is_signed, 1);
    static const char *const wrong[] = {
        "",        "edi",     "rdi->",           "rdi->x", "rdi:u7",
        "rdi:x32", "rdi->1 ", "rdi->1->2->3->4", "x0",     "rdi->99999999999",
        "arg7",    "r16",     "rdi->8:u32x",     "arg"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(hook_word_value(HOOK_ARCH_X86_64, wrong[i], &value));
    assert_true(hook_word_value(HOOK_ARCH_ARM64, "x30->8", &value));
    assert_int_equal(value.base, 31);
    assert_false(hook_word_value(HOOK_ARCH_ARM64, "x31", &value));
    assert_false(hook_word_value(HOOK_ARCH_ARM64, "rdi", &value));
}

#if defined(__x86_64__)
static void test_registers(void **state)
{
    static const struct {
        const char *name;
        int index;
    } rows[] = {
        {"arg1", ARGUS_HOOK_RDI},   {"arg2", ARGUS_HOOK_RSI}, {"arg3", ARGUS_HOOK_RDX},
        {"arg4", ARGUS_HOOK_RCX},   {"arg5", ARGUS_HOOK_R8},  {"arg6", ARGUS_HOOK_R9},
        {"result", ARGUS_HOOK_RAX}, {"rax", ARGUS_HOOK_RAX},  {"rbx", ARGUS_HOOK_RBX},
        {"rcx", ARGUS_HOOK_RCX},    {"rdx", ARGUS_HOOK_RDX},  {"rsi", ARGUS_HOOK_RSI},
        {"rdi", ARGUS_HOOK_RDI},    {"rbp", ARGUS_HOOK_RBP},  {"rsp", ARGUS_HOOK_SP},
        {"r8", ARGUS_HOOK_R8},      {"r9", ARGUS_HOOK_R9},    {"r10", ARGUS_HOOK_R10},
        {"r11", ARGUS_HOOK_R11},    {"r12", ARGUS_HOOK_R12},  {"r13", ARGUS_HOOK_R13},
        {"r14", ARGUS_HOOK_R14},    {"r15", ARGUS_HOOK_R15},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hook_value value;
        assert_true(hook_word_value(HOOK_ARCH_X86_64, rows[i].name, &value));
        assert_int_equal(value.base, rows[i].index + 1);
    }
}
#endif

static void test_places(void **state)
{
    struct hook_row row = {0};
    (void)state;
    assert_true(hook_word_place("operator+", &row)); /* no offset */
    assert_string_equal(row.function, "operator+");
    free(row.function);
    row = (struct hook_row){0};
    assert_true(hook_word_place("f+0x1c", &row));
    assert_string_equal(row.function, "f");
    assert_int_equal(row.offset, 0x1c);
    free(row.function);
    row = (struct hook_row){0};
    assert_true(hook_word_place("*+4", &row));
    assert_true(row.anywhere);
    assert_int_equal(row.offset, 4);
    row = (struct hook_row){0};
    assert_true(hook_word_place("0x4f20", &row));
    assert_null(row.function);
    assert_int_equal(row.offset, 0x4f20);
    assert_false(hook_word_place("0x4fz", &row));
    assert_false(hook_word_place("+4", &row));
    assert_false(hook_word_place("f+4x", &row));
}

static void test_lines(void **state)
{
    static const char text[] =
        "# a comment\n\n"
        "lib.so queue f key=arg1 label=\"two words\" # behind\n"
        "lib.so ui g+4 type=rdi->16:u16 kinds=2:key_press,4:button_press when=rax>=5";
    struct hook_table table;
    (void)state;
    assert_null(hook_table_parse("t", text, sizeof(text) - 1, HOOK_ARCH_X86_64, &table));
    assert_int_equal(table.rows.length, 2);
    assert_string_equal(table.rows.data[0].label, "two words");
    assert_int_equal(table.rows.data[0].line, 3);
    assert_string_equal(table.rows.data[1].label, "g+4");
    assert_int_equal(table.rows.data[1].kind_count, 2);
    assert_int_equal(table.rows.data[1].kinds[1].kind, ARGUS_UI_BUTTON_PRESS);
    assert_int_equal(table.rows.data[1].compare, HOOK_ATLEAST);
    hook_table_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
#if defined(__x86_64__)
        cmocka_unit_test(test_registers),
#endif
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
