/* Names of functions, and texts and rows without personal parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/anonymous.h"
#include "fleet/fleet_names.h"

/* "user": a name that is the beginning of a pseudonym as well. */
static const struct fleet_anonymizer anonymizer = {
    .salt = "00112233445566778899aabbccddeeff", .user = "user", .host = "desk"};

/* Writes "#" for the digits of each pseudonym. */
static const char *without_digits(const char *text, char *buffer)
{
    size_t length = 0;
    for (; *text; text++) {
        buffer[length++] = *text;
        if (*text == '-' && strspn(text + 1, "0123456789abcdef") >= 12) {
            buffer[length++] = '#';
            text += 12;
        }
    }
    buffer[length] = '\0';
    return buffer;
}

struct text_case {
    const char *text, *wanted;
};

static void check(const struct text_case *cases, size_t count,
                  const char *(*change)(const struct fleet_anonymizer *, const char *, char *,
                                        size_t))
{
    char once[1024], twice[1024], shown[1024];
    for (size_t i = 0; i < count; i++) {
        change(&anonymizer, cases[i].text, once, sizeof(once));
        assert_string_equal(without_digits(once, shown), cases[i].wanted);
        assert_string_equal(change(&anonymizer, once, twice, sizeof(twice)), once);
    }
}

static void test_texts(void **state)
{
    static const struct text_case cases[] = {
        {"waits in open()", "waits in open()"},
        {"/home/alice", "/home/user-#"},
        {"/home/alice/x y, z; in=load", "/home/user-#/path-#; in=load"},
        {"/mnt/home/alice/x", "/mnt/home/user-#/path-#"},
        {"//home/alice", "//home/user-#"},
        {"/home//alice", "/home/path-#"},
        {"/proc/1/root/home/alice", "/proc/1/root/path-#"},
        {"file (/home/a/b (1).txt) is busy", "file (/home/user-#/path-#) is busy"},
        {"conn:10.0.0.5", "conn:host-#"},
        {"x_10.0.0.5ms", "x_host-#ms"},
        {"conn:fe80::1", "conn:host-#"},
        {"cafe_x::a::b", "cafe_x::a::b"},
        {"alice@desk.example", "user-#@host-#"},
        {"user on desk-2", "user-# on host-#-2"},
        {"user-0123456789ab@desk", "user-#@host-#"},
        {"user-0123456789abc", "user-#-#c"},
    };
    (void)state;
    check(cases, sizeof(cases) / sizeof(cases[0]), fleet_anonymous_text);
}

static void test_names(void **state)
{
    static const struct text_case cases[] = {
        {"editor", "editor"},
        {"alice@elsewhere", "user-#@host-#"},
        {"10.0.0.7=up", "host-#=argument-#"},
        {"/home/bob: x", "/argument-#"},
        {"sshd: bob [priv]", "sshd: argument-#"},
        {"ssh bob@there: x", "ssh user-#@host-#: argument-#"},
        {"sshd: ", "sshd: "},
    };
    (void)state;
    check(cases, sizeof(cases) / sizeof(cases[0]), fleet_anonymous_name);
}

static void check_text(const json_t *row, const char *member, const char *wanted)
{
    char shown[1024];
    const char *text = json_string_value(json_object_get(row, member));
    assert_string_equal(without_digits(text ? text : "", shown), wanted);
}

static void test_rows(void **state)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "program", "a", "thread", "main", "machine",
        "machine-of-alice0", "file", "/home/alice/x.argus", "path", "a > sshd: bob# > c", "parts",
        "program=a; thread=main; culprit=c; culprit-thread=io: carol; did=LongWait; path=a > sshd: "
        "bob# > c; waits=",
        "cause", "sshd: bob12345 waited for c");
    (void)state;
    assert_true(fleet_anonymize(&anonymizer, row));
    check_text(row, "machine", "machine-#");
    check_text(row, "file", "file-#");
    check_text(row, "path", "a > sshd: argument-# > c");
    check_text(row, "cause", "sshd: argument-# waited for c");
    check_text(row, "parts",
               "program=a; thread=main; culprit=c; culprit-thread=io: argument-#; did=LongWait; "
               "path=a > sshd: argument-# > c; waits=");
    json_t *once = json_deep_copy(row);
    assert_true(fleet_anonymize(&anonymizer, row));
    assert_true(json_equal(row, once));
    json_decref(once);
    json_decref(row);
}

static void test_functions(void **state)
{
    static const struct text_case cases[] = {
        {"load.isra.0", "load"},
        {"load(int) [clone .isra.0]", "load(int)"},
        {"load(int) [clone .part.0] [clone .cold]", "load(int)"},
        {"load", "load"},
    };
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(fleet_function_name(cases[i].text, name, sizeof(name)),
                            cases[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
