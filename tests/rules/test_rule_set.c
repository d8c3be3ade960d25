/* The text of rules: the row made from a line, the error for a wrong one, and the matches of a
 * name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "argus/schema.h"

static struct argus_rule_set *make(void)
{
    struct argus_rule_set *set;
    assert_null(argus_rule_set_create(&set));
    return set;
}

static void add(struct argus_rule_set *set, const char *text)
{
    struct argus_error *error = argus_rule_set_parse(set, "r", text, strlen(text));
    if (error)
        fail_msg("%s: %s", text, error->message);
}

static void test_whole_line(void **state)
{
    (void)state;
    struct argus_rule_set *set = make();
    const struct argus_user_rule *rules;
    add(set, "# a remark\n\n"
             "enqueue\t\"Q::push(Job *)\" in libq.so key=arg2->16->8:s32 function=arg3 weak fifo "
             "space=s label=\"two words\"  # and why\r\n"
             "ignore-wakeups from log_*");
    assert_int_equal(argus_rule_set_rules(set, &rules), 2);
    assert_int_equal(rules[0].kind, ARGUS_RULE_ENQUEUE);
    assert_int_equal(rules[0].line, 3);
    assert_string_equal(rules[0].file, "r");
    assert_string_equal(rules[0].name, "user.enqueue:Q::push(Job *)");
    assert_string_equal(rules[0].function, "Q::push(Job *)");
    assert_string_equal(rules[0].library, "libq.so");
    assert_string_equal(rules[0].space, "s");
    assert_string_equal(rules[0].label, "two words");
    assert_int_equal(rules[0].key.argument, 2);
    assert_int_equal(rules[0].key.steps, 2);
    assert_int_equal(rules[0].key.offsets[0], 16);
    assert_int_equal(rules[0].key.offsets[1], 8);
    assert_int_equal(rules[0].key.bytes, 4);
    assert_true(rules[0].key.is_signed);
    assert_int_equal(rules[0].ran.argument, 3);
    assert_true(rules[0].weak && rules[0].fifo && !rules[0].repeats);
    assert_non_null(strstr(rules[0].description, "weak"));
    assert_int_equal(rules[1].kind, ARGUS_RULE_IGNORE_WAKEUPS);
    assert_null(rules[1].library);
    assert_string_equal(rules[1].label, "log_*");
    assert_int_equal(rules[1].key.argument, 0);
    argus_rule_set_destroy(set);
}

static void test_every_kind_has_a_word(void **state)
{
    (void)state;
    struct argus_rule_set *set = make();
    const struct argus_user_rule *rules;
    char text[2000];
    size_t used = 0;
    for (unsigned i = 0; i < ARGUS_RULE_KINDS; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s f%s\n",
                                 argus_rule_kind_word((enum argus_rule_kind)i),
                                 i >= ARGUS_RULE_IGNORE_WAKEUPS ? "from" : "",
                                 i <= ARGUS_RULE_EXECUTE ? " key=arg1" : "");
    add(set, text);
    assert_int_equal(argus_rule_set_rules(set, &rules), ARGUS_RULE_KINDS);
    for (unsigned i = 0; i < ARGUS_RULE_KINDS; i++)
        assert_int_equal(rules[i].kind, i);
    argus_rule_set_destroy(set);
}

/* Each wrong line, the column of its mistake, and a part of its error. */
static const struct {
    const char *line;
    uint32_t column;
    const char *reason;
} wrong[] = {
    {"enqeue f key=arg1", 1, "no rule begins with \"enqeue\": there are enqueue, cancel"},
    {"  begin", 3, "the function is missing"},
    {"weak-wakeups from", 14, "the function is missing"},
    {"weak-wakeups f", 14, "\"from\" is missing"},
    {"enqueue f", 1, "key=… is missing"},
    {"cancel f in l", 1, "key=… is missing"},
    {"execute f", 1, "key=… is missing"},
    {"begin f key=arg1", 9, "has no \"key\""},
    {"ignore-wakeups from f space=x", 23, "has no \"space\""},
    {"enqueue f key=arg0", 11, "not a number"},
    {"enqueue f key=arg7", 11, "not a number"},
    {"enqueue f key=arg1->", 11, "not a number"},
    {"enqueue f key=arg1->1->2->3->4", 11, "not a number"},
    {"enqueue f key=arg1->9999999", 11, "not a number"},
    {"enqueue f key=arg1:u7", 11, "not a number"},
    {"enqueue f key=arg1 x", 20, "unknown word \"x\""},
    {"enqueue f key=result", 11, "not known yet"},
    {"enqueue f key=arg1 key=arg2", 20, "a second \"key\""},
    {"enqueue f key=arg1 key", 20, "unknown word \"key\""},
    {"enqueue f key=arg1 weak=1", 20, "unknown word"},
    {"enqueue f key=arg1 fifo repeats", 1, "contradict each other"},
    {"begin f in", 9, "the library is missing"},
    {"begin f in l in m", 14, "a second \"in\""},
    {"begin f in lib*.so", 1, "must not contain * or ?"},
    {"begin f in ./prog", 12, "the whole path"},
    {"begin f label=", 9, "empty"},
    {"begin f label=\"\"", 9, "empty"},
    {"begin \"\"", 7, "needs more than"},
    {"begin **?", 7, "needs more than"},
    {"begin f label=\"open", 9, "a quote has no end"},
    {"begin f label=\a", 9, "control character"},
    {"begin f a a a a a a a a a a a a a a a a a a a a a a a", 53, "too many words"},
};

static void check_wrong(size_t i)
{
    struct argus_rule_set *set = make();
    const struct argus_rule_mistake *mistakes;
    const struct argus_user_rule *rules;
    char text[400];
    add(set, "begin before");
    uint64_t identity = argus_rule_set_identity(set);
    snprintf(text, sizeof(text), "# first\nbegin g\n%s\nbegin h\n", wrong[i].line);
    struct argus_error *error = argus_rule_set_parse(set, "r", text, strlen(text));
    assert_non_null(error);
    size_t count = argus_rule_set_mistakes(set, &mistakes);
    if (count != 1 || mistakes[0].line != 3 || mistakes[0].column != wrong[i].column ||
        !strstr(mistakes[0].reason, wrong[i].reason) || !strstr(error->message, wrong[i].reason))
        fail_msg("%s: %zu mistakes, column %u: %s", wrong[i].line, count,
                 count ? mistakes[0].column : 0, error->message);
    assert_string_equal(mistakes[0].file, "r");
    assert_int_equal(argus_rule_set_rules(set, &rules), 1); /* a wrong text gives no rows */
    assert_int_equal(argus_rule_set_identity(set), identity);
    argus_error_destroy(error);
    argus_rule_set_destroy(set);
}

static void test_wrong_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        check_wrong(i);
}

static void test_all_mistakes(void **state)
{
    (void)state;
    struct argus_rule_set *set = make();
    const struct argus_rule_mistake *mistakes;
    const char *text = "sing f\nbegin g\nenqueue h key=x colour=red\nbegin g\n";
    struct argus_error *error = argus_rule_set_parse(set, "r", text, strlen(text));
    assert_non_null(error);
    assert_non_null(strstr(error->message, "r, line 1, column 1"));
    assert_non_null(strstr(error->message, "3 more mistakes"));
    argus_error_destroy(error);
    assert_int_equal(argus_rule_set_mistakes(set, &mistakes), 4);
    assert_int_equal(mistakes[1].line, 3);
    assert_int_equal(mistakes[1].column, 11);
    assert_int_equal(mistakes[2].line, 3);
    assert_int_equal(mistakes[2].column, 17);
    assert_int_equal(mistakes[3].line, 4);
    assert_non_null(strstr(mistakes[3].reason, "line 2 of r"));
    add(set, "begin g"); /* and the next text does not repeat them */
    assert_int_equal(argus_rule_set_mistakes(set, &mistakes), 0);
    argus_rule_set_destroy(set);
}

static void test_hostile_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } texts[] = {{"begin f\n\0x", 10}, {"begin f \xff\x1b[31m=", 15}};
    char line[2100];
    struct argus_rule_set *set = make();
    const struct argus_rule_mistake *mistakes;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct argus_error *error = argus_rule_set_parse(set, "r", texts[i].text, texts[i].bytes);
        assert_non_null(error);
        assert_null(strchr(error->message,
                           '\x1b')); /* control characters, which must not reach a terminal */
        argus_error_destroy(error);
    }
    memset(line, 'x', sizeof(line));
    struct argus_error *error = argus_rule_set_parse(set, "r", line, sizeof(line));
    assert_non_null(strstr(error->message, "too long"));
    argus_error_destroy(error);
    char *many = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&many, &bytes);
    for (int i = 0; i < 1001; i++)
        fprintf(file, "begin f%d\n", i);
    fclose(file);
    error = argus_rule_set_parse(set, "r", many, bytes);
    assert_non_null(strstr(error->message, "line 1001, column 1: more than 1000 rules"));
    argus_error_destroy(error);
    memset(many, '\n', bytes);
    for (size_t i = 0; i + 1 < bytes; i += 2)
        many[i] = 'x';
    error = argus_rule_set_parse(set, "r", many, bytes);
    assert_int_equal(argus_rule_set_mistakes(set, &mistakes), 100);
    argus_error_destroy(error);
    free(many);
    argus_rule_set_destroy(set);
}

static uint64_t identity_of(const char *name, const char *text)
{
    struct argus_rule_set *set = make();
    struct argus_error *error = argus_rule_set_parse(set, name, text, strlen(text));
    assert_null(error);
    uint64_t identity = argus_rule_set_identity(set);
    argus_rule_set_destroy(set);
    return identity;
}

static void test_identity(void **state)
{
    (void)state;
    /* no two of these make the same graph */
    static const char *const texts[] = {
        "begin f",
        "begin g",
        "end f",
        "begin f in l",
        "begin f space=l",
        "begin f label=l",
        "begin f\nbegin g",
        "begin g\nbegin f",
        "enqueue f key=arg1",
        "enqueue f key=arg2",
        "enqueue f key=arg1->0",
        "enqueue f key=arg1->4",
        "enqueue f key=arg1:u32",
        "enqueue f key=arg1:s32",
        "enqueue f key=arg1 weak",
        "enqueue f key=arg1 fifo",
        "enqueue f key=arg1 repeats",
        "enqueue f key=arg1 function=arg2",
        "weak-wakeups from f",
    };
    enum { COUNT = sizeof(texts) / sizeof(*texts) };
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_not_equal(identity_of("r", texts[i]), 0);
        for (size_t k = 0; k < i; k++)
            if (identity_of("r", texts[i]) == identity_of("r", texts[k]))
                fail_msg("%s and %s", texts[i], texts[k]);
    }
    assert_int_equal(identity_of("r", "begin f"), identity_of("s", "# the same\n\nbegin  f"));
    assert_int_equal(identity_of("r", "# nothing\n"), 0);
    assert_int_equal(argus_rule_set_identity(NULL), 0);
}

static const struct {
    const char *pattern, *symbol;
    bool fits;
} names[] = {
    {"f", "f", true},
    {"f", "ff", false},
    {"f*", "f", true},
    {"*f", "off", true},
    {"a*b*c", "aXbbYc", true},
    {"a*b*c", "aXbbYcd", false},
    {"f?", "f", false},
    {"f?", "fg", true},
    {"memcpy", "memcpy@@GLIBC_2.14", true},
    {"Queue::push", "_ZN5Queue4pushEP3Job", true},
    {"Queue::push(Job*)", "_ZN5Queue4pushEP3Job", true},
    {"_ZN5Queue4pushEP3Job", "_ZN5Queue4pushEP3Job", true},
    {"Queue::push", "Queue::push(Job*)", true},
    {"Queue::pus", "_ZN5Queue4pushEP3Job", false},
    {"push", "_ZN5Queue4pushEP3Job", false},
    {"*::push", "_ZN5Queue4pushEP3Job", true},
    {"(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi", true},
    {"f", "f(int (*)(char)) const", true},
    {"A::operator()", "A::operator()(int)", true},
    {"A::operator[]", "A::operator[](int)", true},
    {"[ab]", "a", false},
    {"f", "f(int) [clone .cold]", true},
    {"g", "f(g)", false},
    {"f", "", false},
    {"*", "", true},
};

static void test_function_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (argus_function_matches(names[i].pattern, names[i].symbol) != names[i].fits)
            fail_msg("%s, %s", names[i].pattern, names[i].symbol);
    /* would exceed the test's time limit if each star doubled the work */
    char text[2001];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(argus_function_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void test_library_names(void **state)
{
    (void)state;
    assert_true(argus_library_matches("libq.so", "/usr/lib/libq.so"));
    assert_true(argus_library_matches("libq.so", "/usr/lib/libq.so.1.2"));
    assert_true(argus_library_matches("libq.so", "libq.so"));
    assert_false(argus_library_matches("libq.so", "/usr/lib/libq.sox"));
    assert_false(argus_library_matches("libq.so", "/usr/libq.so/other"));
    assert_false(argus_library_matches("q.so", "/usr/lib/libq.so"));
    assert_true(argus_library_matches("/opt/prog", "/opt/prog"));
    assert_false(argus_library_matches("/opt/prog", "/usr/opt/prog"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_line),     cmocka_unit_test(test_every_kind_has_a_word),
        cmocka_unit_test(test_wrong_lines),    cmocka_unit_test(test_all_mistakes),
        cmocka_unit_test(test_hostile_bytes),  cmocka_unit_test(test_identity),
        cmocka_unit_test(test_function_names), cmocka_unit_test(test_library_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
