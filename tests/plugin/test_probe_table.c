/* The table of probes: the row made from a line, and the error for a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/probes/probe_table.h"

static struct argus_error *parse(struct probe_table *table, const char *text)
{
    return probe_table_parse(table, "probes", text, strlen(text));
}

static void assert_parsed(struct probe_table *table, const char *text)
{
    struct argus_error *error = parse(table, text);
    if (error)
        fail_msg("%s", error->message);
}

static void test_whole_line(void **state)
{
    (void)state;
    struct probe_table table = {0};
    assert_parsed(&table, "# a remark\n\n"
                          "lib.so.1\tbegin *funcs+16 once queued when=arg2->16:u16>=1000 "
                          "key=arg2:s32 function=arg1->0->72 label=\"two words\" space=s\r\n");
    assert_int_equal(table.rows.length, 1);
    const struct probe_row *row = &table.rows.data[0];
    assert_string_equal(row->library, "lib.so.1");
    assert_string_equal(row->label, "two words");
    assert_string_equal(row->symbol.name, "funcs");
    assert_true(row->symbol.is_pointer);
    assert_int_equal(row->symbol.offset, 16);
    assert_int_equal(row->spec.shape, ARGUS_PROBE_BEGIN);
    assert_int_equal(row->spec.flags, PROBE_ONCE | PROBE_QUEUED);
    assert_int_equal(row->spec.when.compare, PROBE_COMPARE_ATLEAST);
    assert_int_equal(row->spec.when.than, 1000);
    assert_int_equal(row->spec.when.value.base, 2);
    assert_int_equal(row->spec.when.value.steps, 1);
    assert_int_equal(row->spec.when.value.offsets[0], 16);
    assert_int_equal(row->spec.when.value.bytes, 2);
    assert_int_equal(row->spec.key.steps, 0);
    assert_int_equal(row->spec.key.bytes, 4);
    assert_int_equal(row->spec.key.is_signed, 1);
    assert_int_equal(row->spec.function.steps, 2);
    assert_int_equal(row->spec.function.offsets[1], 72);
    assert_int_equal(row->spec.function.bytes, 8);
    probe_table_deinit(&table);
}

static void test_kinds(void **state)
{
    (void)state;
    struct probe_table table = {0};
    assert_parsed(&table, "l ui f type=arg1->0:u8 kinds=2:key_press,44:button_release,7:other");
    const struct probe_spec *spec = &table.rows.data[0].spec;
    assert_int_equal(spec->kind_count, 3);
    assert_int_equal(spec->kinds[0].kind, ARGUS_UI_KEY_PRESS);
    assert_int_equal(spec->kinds[1].number, 44);
    assert_int_equal(spec->kinds[1].kind, ARGUS_UI_BUTTON_RELEASE);
    assert_int_equal(spec->kinds[2].kind, ARGUS_UI_OTHER);
    probe_table_deinit(&table);
}

static void test_spaces(void **state)
{
    (void)state;
    struct probe_table table = {0};
    assert_parsed(&table, "a queue f key=arg1\nb queue f key=arg1\nb begin g key=arg1\n"
                          "a begin g key=arg1 space=b\nc turn h");
    const struct probe_row *rows = table.rows.data;
    assert_int_not_equal(rows[0].spec.space, rows[1].spec.space);
    assert_int_equal(rows[1].spec.space, rows[2].spec.space);
    assert_int_equal(rows[1].spec.space, rows[3].spec.space);
    assert_int_not_equal(rows[0].spec.space, 0);
    probe_table_deinit(&table);
}

/* Each wrong line, and a part of its error. */
static const char *const wrong[][2] = {
    {"l queue", "LIBRARY SHAPE SYMBOL"},
    {"l sing f", "unknown shape \"sing\""},
    {"l flag_write f", "unknown shape \"flag_write\""},
    {"l queue f", "key=… is missing"},
    {"l cancel f", "key=… is missing"},
    {"l handler f", "function=… is missing"},
    {"l begin f once", "need key="},
    {"l begin f key=arg0", "not a number"},
    {"l begin f key=arg7", "not a number"},
    {"l begin f key=arg1->", "not a number"},
    {"l begin f key=arg1->8->8->8->8", "not a number"},
    {"l begin f key=arg1->99999999", "not a number"},
    {"l begin f key=arg1:u7", "not a number"},
    {"l begin f key=arg1x", "not a number"},
    {"l begin f key=result", "flag return"},
    {"l begin f when=arg1", "not a condition"},
    {"l begin f when=arg1=", "not a condition"},
    {"l begin f when=arg1>5", "not a condition"},
    {"l begin f when=arg1=99999999999999999999999", "not a condition"},
    {"l ui f kinds=1:key_press", "needs type="},
    {"l ui f type=arg1 kinds=1:keypress", "not a list"},
    {"l ui f type=arg1 kinds=1:key_press,", "not a list"},
    {"l ui f type=arg1 kinds=key_press", "not a list"},
    {"l begin *f+", "not a symbol"},
    {"l begin *+8", "not a symbol"},
    {"l begin f colour=red", "unknown word \"colour\""},
    {"l begin f fast", "unknown word \"fast\""},
    {"l begin f label=\"open", "a quote has no end"},
    {"l begin f label=", "empty or too long"},
    {"l begin f a b c d e f g h i j k l m n o p q r s t u v w x y", "too many words"},
};

static void test_wrong_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct probe_table table = {0};
        char text[600];
        assert_parsed(&table, "good turn f");
        snprintf(text, sizeof(text), "# first\nl turn f\n%s\nl turn g\n", wrong[i][0]);
        struct argus_error *error = parse(&table, text);
        const char *message = error ? error->message : "accepted";
        if (!strstr(message, wrong[i][1]) || !strstr(message, "probes, line 3:"))
            fail_msg("%s: %s", wrong[i][0], message);
        assert_int_equal(table.rows.length, 1); /* a wrong text gives no rows */
        argus_error_destroy(error);
        probe_table_deinit(&table);
    }
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    struct probe_table table = {0};
    struct argus_error *error = probe_table_parse(&table, "probes", "l turn f\n\0x", 11);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "line 2"));
    argus_error_destroy(error);
    probe_table_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_line),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_bytes_that_are_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
