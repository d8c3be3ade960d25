/* Functions that store to the same member of some object, and the names of elements and of what
 * only the stack leads to. test_similar_writers PROGRAM: similar_shapes.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loop_code.h"
#include "steps/loops/code_similar.h"
#include "steps/loops/loop_local_text.h"

static const char *program_path;

static struct elf_file *open_program(struct loop_flags *ret)
{
    struct loop_frame frame;
    struct elf_file *file = loop_code_open(program_path);
    (void)loop_code_frames(file, file, "job", false, &frame);
    assert_true(loop_flags_find(&frame, 1, loop_code_is_arm64(file), NULL, ret));
    assert_int_equal(ret->count, 1);
    return file;
}

/* Where the functions begin whose names are in the text. */
static uint32_t find_starts(struct elf_file *file, const char *names, uint64_t *ret)
{
    uint32_t count = 0;
    char text[1024], *rest = text;
    snprintf(text, sizeof(text), "%s", names);
    for (char *name; (name = strsep(&rest, " ")) != NULL; count++)
        assert_true(loop_code_find(file, name, &ret[count]));
    return count;
}

#define BLINDS                                                                                     \
    "set_blind_0 set_blind_1 set_blind_2 set_blind_3 set_blind_4 set_blind_5 set_blind_6 "         \
    "set_blind_7 set_blind_8 set_blind_9 set_blind_10 set_blind_11 set_blind_12 set_blind_13 "     \
    "set_blind_14 set_blind_15"

/* Unoptimized code keeps what it stores on the stack, so that the value is not told. */
static bool is_plain(void)
{
    return strstr(program_path, "_O0") != NULL;
}

static void drop_values(char *text)
{
    for (char *at = text; is_plain() && (at = strstr(at, "=1")) != NULL;)
        memmove(at, at + 2, strlen(at + 2) + 1);
}

/* By what other threads execute. */
static void functions_may_write(void **state)
{
    static const struct {
        const char *starts, *expected;
    } all[] = {
        {"set_done", "set_done?=1"},
        {"set_computed", "set_computed?"},
        {"set_twice", "set_twice?"},
        {"set_done set_computed", "set_computed? set_done?=1"},
        {"run_job", "run_job?=1"},
        {"set_other", ""},
        {"set_alike", ""},
        {"set_element", ""},
        {"set_blind_0", "set_blind_0?=1"},
        {"set_blind_0 set_blind_1 set_blind_2 set_blind_3 set_blind_4", ""},
        {"set_blind_0 set_done set_blind_1 set_blind_2", "set_done?=1"},
        {"set_blind_0 set_done set_blind_1 set_blind_2 set_blind_3 set_blind_4", "set_done?=1"},
        {BLINDS " set_done", ""}, /* the 17th finds no place */
    };
    (void)state;
    struct loop_flags flags;
    unsigned wrong = 0;
    struct elf_file *file = open_program(&flags);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[1024], expected[128];
        uint64_t starts[32];
        struct code_writers writers;
        uint32_t count = find_starts(file, all[i].starts, starts);
        bool found = code_similar_find(&flags.all[0], flags.head, starts, count,
                                       loop_code_is_arm64(file), &writers);
        assert_int_equal(found, writers.count > 0);
        assert_int_equal(writers.is_cut, count > CODE_WRITERS_MAX);
        loop_code_describe_writers(file, &writers, text, sizeof(text));
        snprintf(expected, sizeof(expected), "%s", all[i].expected);
        drop_values(expected);
        drop_values(text);
        if (strcmp(text, expected) == 0)
            continue;
        wrong++;
        print_error("%s: expected %s, found %s\n", all[i].starts, expected, text);
    }
    assert_int_equal(wrong, 0);
    elf_file_close(file);
}

/* If the loop's comparisons do not tell that it goes on, the value does. */
static void a_reset_is_known(void **state)
{
    (void)state;
    uint64_t start;
    struct loop_flags flags;
    struct code_writers writers;
    struct elf_file *file = open_program(&flags);
    bool is_told = loop_tests_decide(&flags.all[0].tests, 0) == LOOP_CONTINUES;
    assert_int_equal(find_starts(file, "clear_done", &start), 1);
    assert_int_equal(
        code_similar_find(&flags.all[0], flags.head, &start, 1, loop_code_is_arm64(file), &writers),
        !is_told);
    assert_true(is_told || is_plain() || (writers.all[0].has_value && writers.all[0].value == 0));
    elf_file_close(file);
}

/* --- names --- */

static void a_local_variable_has_a_member(void **state)
{
    (void)state;
    struct loop_flags flags;
    struct elf_member member;
    char text[128];
    struct elf_file *file = open_program(&flags);
    assert_true(flags.all[0].local.is_local);
    assert_true(loop_flag_member(&flags.all[0], flags.head, &member));
    assert_memory_equal(member.text, "job->is_done", sizeof("job->is_done") - 1);
    assert_false(loop_flag_text(&flags.all[0], text, sizeof(text)));
    assert_string_equal(text, "argument 1 of wait_job->0x8");
    flags.all[0].elements = 2;
    assert_false(loop_flag_text(&flags.all[0], text, sizeof(text)));
    assert_string_equal(text, "argument 1 of wait_job->0x8[i]");
    flags.all[0].local.slot.reg = loop_code_is_arm64(file) ? 7 : REGISTER_R9;
    loop_local_text(&flags.all[0], text, sizeof(text));
    assert_string_equal(text, loop_code_is_arm64(file) ? "argument 8 of wait_job"
                                                       : "argument 6 of wait_job");
    elf_file_close(file);
}

static void an_element_has_an_index(void **state)
{
    static const struct {
        const char *name, *rest; /* the variable's, and what is behind it */
        bool is_last;
        const char *expected; /* behind the name; NULL: it is not known which array it is */
    } all[] = {
        {"jobs", "[0].done", false, "[i].done"},
        {"jobs", "[12].done", false, "[i].done"},
        {"T::operator[](int)::jobs", "[0].done", false, "[i].done"},
        {"names[abi:cxx11]", "[0].done", false, "[i].done"},
        {"list[7]", ".jobs[abi:cxx11][0].done", false, ".jobs[abi:cxx11][i].done"},
        {"pool", ".items[2]->jobs[0].done", true, ".items[2]->jobs[i].done"},
        {"pool", ".items[2]->jobs[0].done", false, ".items[i]->jobs[0].done"},
        {"pool", ".items->jobs[0].done", false, NULL},
        {"jobs", "->done", true, "[i].done"},
        {"jobs", "->0x10", true, NULL},
        {"jobs", "[0].slots[1].done", false, NULL},
        {"job", ".done", false, NULL},
        {"job", ".done", true, NULL},
        {"job", "[", false, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct elf_member member = {.name_bytes = (uint32_t)strlen(all[i].name)};
        snprintf(member.text, sizeof(member.text), "%s%s", all[i].name, all[i].rest);
        assert_int_equal(loop_member_put_index(&member, all[i].is_last), all[i].expected != NULL);
        assert_string_equal(member.text + member.name_bytes,
                            all[i].expected ? all[i].expected : all[i].rest);
    }
}

/* Names of files may be as long as the text. */
static void a_long_name_is_not_exceeded(void **state)
{
    (void)state;
    static const char *const ends[] = {"->b", "[]", "[0]", "->", "["};
    for (size_t i = 0; i < 2 * sizeof(ends) / sizeof(ends[0]); i++) {
        struct {
            struct elf_member member;
            char guard[8];
        } room = {.guard = "guard"};
        const char *end = ends[i / 2];
        size_t last = sizeof(room.member.text) - 1 - strlen(end);
        memset(room.member.text, 'a', last);
        snprintf(room.member.text + last, sizeof(room.member.text) - last, "%s", end);
        (void)loop_member_put_index(&room.member, i % 2);
        assert_true(strlen(room.member.text) < sizeof(room.member.text));
        assert_string_equal(room.guard, "guard");
    }
}

/* The outermost call is `address`, however many there are. */
static void way_of_many_calls(void **state)
{
    enum { DEPTH = CODE_WAY_MAX + 3 };
    struct code_function functions[DEPTH];
    struct code_scope scopes[DEPTH];
    (void)state;
    for (uint32_t i = 0; i < DEPTH; i++) {
        functions[i] = (struct code_function){.start = 0x1000 * (i + 1), .bytes = 16};
        assert_true(
            vec_push(&functions[i].nodes, (struct instruction){.address = functions[i].start + 4}));
        scopes[i] = (struct code_scope){
            .function = &functions[i], .caller = i ? &scopes[i - 1] : NULL, .depth = i};
    }
    for (uint32_t inner = 0; inner < DEPTH; inner++) {
        struct code_writer writer = code_writer_at(&scopes[inner], 0, &functions[0]);
        assert_int_equal(writer.address, 0x1004);
        assert_int_equal(writer.way_count, inner + 1 < CODE_WAY_MAX ? inner + 1 : CODE_WAY_MAX);
        assert_int_equal(writer.way[writer.way_count - 1], writer.address);
        assert_int_equal(writer.way[0], functions[inner].start + 4);
    }
    for (uint32_t i = 0; i < DEPTH; i++)
        vec_deinit(&functions[i].nodes);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    program_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_may_write),           cmocka_unit_test(a_reset_is_known),
        cmocka_unit_test(a_local_variable_has_a_member), cmocka_unit_test(an_element_has_an_index),
        cmocka_unit_test(a_long_name_is_not_exceeded),   cmocka_unit_test(way_of_many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
