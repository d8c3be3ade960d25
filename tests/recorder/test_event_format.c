/* The kernel's descriptions of tracepoints: real ones, old and new, and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "recorder/linux/perf/event_format.h"

static const char rename_text[] =
    "name: task_rename\n"
    "ID: 204\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
    "\tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
    "\tfield:short oom_score_adj;\toffset:44;\tsize:2;\tsigned:1;\n"
    "\n"
    "print fmt: \"pid=%d oldcomm=%s\", REC->pid, REC->oldcomm\n";

static const char exec_text[] =
    "name: sched_process_exec\n"
    "ID: 365\n"
    "format:\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t old_pid;\toffset:12;\tsize:4;\tsigned:1;\n";

static void the_id(void **state)
{
    (void)state;
    assert_int_equal(event_format_id(rename_text), 204);
    assert_int_equal(event_format_id("name: x\nformat:\n"), 0);
    assert_int_equal(event_format_id("name: x\nID: 99999999999999\n"), 0);
    assert_int_equal(event_format_id(""), 0);
}

static void expect_field(const char *text, const char *name, uint32_t offset, uint32_t bytes)
{
    struct event_field field;
    assert_true(event_format_find(text, name, &field));
    assert_int_equal(field.offset, offset);
    assert_int_equal(field.bytes, bytes);
}

static void fields_by_their_whole_name(void **state)
{
    (void)state;
    struct event_field field;
    expect_field(rename_text, "pid", 8, 4);
    expect_field(rename_text, "common_pid", 4, 4);
    expect_field(rename_text, "newcomm", 28, 16);
    assert_false(event_format_find(rename_text, "comm", &field));
    assert_false(event_format_find(rename_text, "id", &field));
    assert_false(event_format_find(rename_text, "", &field));
}

static void what_is_not_sensible_is_not_found(void **state)
{
    (void)state;
    struct event_field field;
    assert_false(event_format_find("\tfield:int a;\toffset:x;\tsize:4;\tsigned:1;\n", "a", &field));
    assert_false(event_format_find("\tfield:int a;\toffset:8;\tsize:0;\tsigned:1;\n", "a", &field));
    assert_false(
        event_format_find("\tfield:int a;\toffset:8;\tsize:70000;\tsigned:1;\n", "a", &field));
    assert_false(event_format_find("\tfield:int a", "a", &field));
    assert_false(event_format_find("field:", "a", &field));
    assert_false(event_format_find("field:];", "a", &field));
}

static void numbers_of_every_size(void **state)
{
    (void)state;
    const uint8_t raw[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    struct event_field field = {.offset = 0, .bytes = 1, .is_signed = true};
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), UINT64_MAX);
    field.is_signed = false;
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), 0xff);
    field.bytes = 2;
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), 0xffff);
    field.bytes = 4;
    field.is_signed = true;
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), UINT64_MAX);
    field.bytes = 8;
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), INT64_MAX);
}

static void nothing_is_read_outside(void **state)
{
    (void)state;
    const uint64_t raw[2] = {1, 2};
    size_t length;
    struct event_field field = {.offset = 12, .bytes = 8};
    assert_int_equal(event_field_number(&field, raw, sizeof(raw)), 0);
    field = (struct event_field){.offset = 0, .bytes = 16};
    assert_int_equal(event_field_element(&field, 1, raw, sizeof(raw)), 2);
    assert_int_equal(event_field_element(&field, 2, raw, sizeof(raw)), 0);
    assert_int_equal(event_field_element(&field, 1, raw, 8), 0);
    field = (struct event_field){.offset = 0, .bytes = 4, .is_elsewhere = true};
    const uint32_t far_away[] = {0x00ff0004, 0};
    assert_string_equal(event_field_text(&field, far_away, sizeof(far_away), &length), "");
    assert_int_equal(length, 0);
}

static void texts_here_and_elsewhere(void **state)
{
    (void)state;
    struct event_field field;
    size_t length;
    struct {
        uint32_t common[2], place, old_pid;
        char text[16];
    } raw = {.place = 10u << 16 | 16, .text = "/bin/true"};
    assert_true(event_format_find(exec_text, "filename", &field));
    const char *text = event_field_text(&field, &raw, sizeof(raw), &length);
    assert_int_equal(length, strlen("/bin/true"));
    assert_memory_equal(text, "/bin/true", length);

    char comm[] = "0123456789abcdefX"; /* no NUL in its 16 bytes */
    field = (struct event_field){.offset = 0, .bytes = 16};
    event_field_text(&field, comm, 16, &length);
    assert_int_equal(length, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id),
        cmocka_unit_test(fields_by_their_whole_name),
        cmocka_unit_test(what_is_not_sensible_is_not_found),
        cmocka_unit_test(numbers_of_every_size),
        cmocka_unit_test(nothing_is_read_outside),
        cmocka_unit_test(texts_here_and_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
