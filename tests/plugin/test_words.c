/* Words of a command line: options, units, quoting, near misses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/arguments.h"
#include "plugin/nearest.h"
#include "plugin/units.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", ""},
    {"size", 0, "SIZE", ""},
    {"quick", 'q', NULL, ""},
    COMMAND_OPTIONS_END,
};
static const struct command plain = {.name = "plain", .options = options};
static const struct command program = {
    .name = "program", .options = options, .flags = COMMAND_PROGRAM};

static struct arguments *parse(const struct command *command, int argc, const char *const *argv)
{
    struct arguments *arguments;
    struct argus_error *error = arguments_parse(command, argc, argv, &arguments);
    if (error)
        fail_msg("%s", error->message);
    return arguments;
}

#define PARSE(command, ...)                                                                        \
    parse(command, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                  \
          (const char *[]){__VA_ARGS__})

static void test_options_and_words(void **state)
{
    (void)state;
    struct arguments *a =
        PARSE(&plain, "one", "-o", "first", "--output=second", "-q", "two", "--", "-x");
    assert_string_equal(arguments_option(a, "output"), "second");
    assert_string_equal(arguments_option_at(a, "output", 0), "first");
    assert_null(arguments_option_at(a, "output", 2));
    assert_true(arguments_has(a, "quick"));
    assert_false(arguments_has(a, "size"));
    assert_int_equal(arguments_count(a), 3);
    assert_string_equal(arguments_word(a, 2), "-x");
    assert_null(arguments_word(a, 3));
    assert_null(arguments_expect(a, 3, 3));
    arguments_destroy(a);
}

static void test_another_programs_options_are_left_alone(void **state)
{
    (void)state;
    struct arguments *a = PARSE(&program, "-o", "x", "ls", "-q", "--output=y");
    assert_string_equal(arguments_option(a, "output"), "x");
    assert_false(arguments_has(a, "quick"));
    char *const *argv = arguments_argv(a, 0);
    assert_string_equal(argv[1], "-q");
    assert_string_equal(argv[2], "--output=y");
    assert_null(argv[3]);
    arguments_destroy(a);
}

static void expect_usage_error(const char *word, const char *message)
{
    struct arguments *arguments = NULL;
    struct argus_error *error = arguments_parse(&plain, 1, &word, &arguments);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_USAGE);
    if (!strstr(error->message, message))
        fail_msg("%s: '%s' is not in '%s'", word, message, error->message);
    argus_error_destroy(error);
    assert_null(arguments);
}

static void test_wrong_options(void **state)
{
    (void)state;
    expect_usage_error("--outptu", "did you mean --output");
    expect_usage_error("-z", "no option -z");
    expect_usage_error("--output", "needs an argument");
    expect_usage_error("--quick=1", "--quick");
    expect_usage_error("--zzzzzz", "no option --zzzzzz (argus plain --help)");
}

static void test_command_line_is_written_as_it_was(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    struct arguments *a = PARSE(&plain, "-q", "a b", "it's", "", "--size=$5", "--output=x");
    FILE *out = open_memstream(&text, &length);
    arguments_write_line(a, "output", out);
    fclose(out);
    assert_string_equal(text, "argus plain --quick --size='$5' 'a b' 'it'\\''s' ''");
    free(text);
    arguments_destroy(a);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const struct unit *units;
        bool valid;
        uint64_t value;
    } rows[] = {
        {"0", units_none, true, 0},
        {"18446744073709551615", units_none, true, UINT64_MAX},
        {"18446744073709551616", units_none, false, 0},
        {"1.5", units_none, false, 0},
        {"-1", units_none, false, 0},
        {"", units_none, false, 0},
        {"5x", units_none, false, 0},
        {"512M", units_size, true, 536870912},
        {"2g", units_size, true, 2147483648},
        {"1.5K", units_size, true, 1536},
        {"99999999999999999999G", units_size, false, 0},
        {"2", units_duration, true, 2000000000},
        {"2s", units_duration, true, 2000000000},
        {"1.5s", units_duration, true, 1500000000},
        {"150ms", units_duration, true, 150000000},
        {"3us", units_duration, true, 3000},
        {"40ns", units_duration, true, 40},
        {"nan", units_duration, false, 0},
        {"1e400", units_duration, false, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t value = 0;
        if (units_parse(rows[i].text, rows[i].units, &value) != rows[i].valid)
            fail_msg("'%s' is taken otherwise", rows[i].text);
        if (rows[i].valid)
            assert_int_equal(value, rows[i].value);
    }
}

static const char *nearest_of(const char *given)
{
    struct nearest nearest;
    nearest_init(&nearest, given);
    nearest_offer(&nearest, "graph");
    nearest_offer(&nearest, "graph show");
    nearest_offer(&nearest, "diagnose");
    return nearest.best;
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("grpah"), "graph");
    assert_string_equal(nearest_of("diag"), "diagnose");
    assert_string_equal(nearest_of("diagnosis"), "diagnose");
    assert_null(nearest_of("zebra"));
    assert_null(nearest_of(""));
}

static void test_commands_are_found(void **state)
{
    (void)state;
    int words;
    const char *show[] = {"graph", "show", "x"};
    assert_string_equal(command_find(3, show, &words)->name, "graph show");
    assert_int_equal(words, 2);
    assert_string_equal(command_find(1, show, &words)->name, "graph");
    assert_null(command_find(1, show + 1, &words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_and_words),
        cmocka_unit_test(test_another_programs_options_are_left_alone),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_command_line_is_written_as_it_was),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_commands_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
