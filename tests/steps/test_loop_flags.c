/* The variable that ends a loop, and the functions that write it, found in code of real compilers.
 * test_loop_flags PROGRAM STRIPPED: loop_shapes.c, with and without symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loop_code.h"
#include "loop_flags_text.h"
#include "steps/loops/code_order.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/loop_flags.h"
#include "steps/loops/shared_roots.h"

static const char *program_path, *stripped_path;

/* The expected first variable, or several with " or ", or how its name begins with "*"; "?" if more may end the loop; NULL: no
 * answer. */
static const struct shape {
    const char *name;
    bool has_caller; /* go_NAME() is in the stack, too */
    const char *expected;
} shapes[] = {
    {"global", false, "did_reconfigure"},
    {"bounded", false, "did_reconfigure"},
    {"while_handling", false, "did_reconfigure"},
    {"field_of_struct", false, "settings+0xc"},
    {"bit", false, "settings+0x10"},
    {"bit_field", false, "picture"},
    {"atomic", false, "is_atomic"},
    {"count", false, "work_left"},
    {"spin", false, "spin_lock"},
    {"sequence", false, "decoded"},
    {"cleared", false, "did_reconfigure"},
    {"interrupted", false, "did_reconfigure"},
    {"mixed", false, "did_reconfigure"},
    {"joined", false, "did_reconfigure"},
    {"checked", false, "did_reconfigure"},
    {"object", false, "job+0x8"},
    {"callback", false, "callback_job+0x8"},
    {"chosen", false, "chosen->0x10"},
    {"copied", false, "optarg->0x0"},
    {"pointer", false, "window->0x10"},
    {"pointers", false, "window->0x8->0x18"},
    {"argument", true, "window->0x10"},
    {"argument", false, "argument 1 of wait_argument->0x10"},
    {"address", true, "main_window+0x10"},
    {"inlined", false, "is_ready_flag"},
    {"function", false, "is_ready_flag"},
    {"pointed", false, "is_ready_flag"},
    {"switched", false, "is_ready_flag"},
    {"two_functions", false, "window->0x8->0x18"},
    {"state", false, "answer"},
    {"either", false, "is_first or is_second"},
    {"both", false, "is_first or is_second"},
    {"or_device", false, "is_first?"},
    {"told", false, "is_told?"},
    {"own_thread", false, "arrived"},
    {"static_thread", false, "has_come"},
    {"record_of_thread", false, "record+0x8"},
    {"deadline", false, "did_reconfigure"},
    {"seconds", false, "did_reconfigure"},
    {"until_limit", false, "did_reconfigure"},
    {"with_options", false, "did_reconfigure?"},
    {"with_rare_looks", false, "did_reconfigure?"},
    {"gathering", false, "gathered?"},
    {"dispatching", false, "did_reconfigure"},
    {"semaphore", false, "places_left"},
    {"mutex", false, "catalogue"},
    {"phase", false, "phase"},
    {"hooks", false, "is_ready_flag"},
    {"signal", false, "got_signal"},
    {"predicate", true, "job+0x8"},
    {"predicate", false, NULL},
    {"operations", false, "device->0x8"},
    {"chosen_operations", false, NULL},
    {"mapped", false, "shared memory+0x8"},
    {"private_mapping", false, "object of wait_private_mapping->0x8"},
    {"board", false, "board->0x8"},
    {"counter", false, NULL},
    {"counter", true, NULL},
    {"global_counter", false, NULL},
    {"once", false, NULL},
    {"for_ever", false, NULL},
    {"device", false, NULL},
    {"device", true, NULL},
    {"clock", false, NULL},
    {"list", false, NULL},
    {"list", true, NULL},
    {"element", false, "elements[i]+0x8"},
    {"byte", false, "done_bytes[i]"},
    {"summed", false, "elements[i]+0x8"},
    {"row", false, "table->0x10[i]"},
    {"one_pointer", false, "stack of wait_one_pointer*"},
    {"checks", false, NULL},
    {"checks_and_global", false, "did_reconfigure?"},
    {"stack", false, "stack of wait_stack*"},
    {"timed_part", true, "did_reconfigure"},
    {"timed_part", false, NULL},
    {"c11_part", true, "did_reconfigure"},
    {"c11_part", false, NULL},
    {"pause", true, "did_reconfigure"},
    {"pause", false, NULL},
    {"text", false, "status_text"},
    {"private", false, "loader->0x8[i]"},
    {"guarded", false, "argument 1 of wait_guarded->0xc"},
    {"knot", false, "did_reconfigure"},
    {"speculative", false, "task->0x8?"},
};

/* The functions that write the first variable of a shape, by name, with the constant that they
 * write; "?": the variable's address is given to another file's function. */
static const struct {
    const char *shape, *expected, *alternative; /* of unoptimized code; may be NULL */
} all_writers[] = {
    {"global", "set_global=1 wait_cleared=0", NULL},
    {"field_of_struct", "set_field_of_struct=3", NULL},
    {"bit", "set_bit", NULL},
    {"atomic", "set_atomic=1", "set_atomic"},
    {"count", "set_count", NULL},
    {"spin", "set_spin=0 wait_spin", "set_spin=0 wait_spin=1"},
    {"sequence", "set_sequence", NULL},
    {"object", "run_job=1", NULL},
    {"callback", "on_end?=1", NULL},
    {"pointer", "set_by_argument=1 set_pointer=1", NULL},
    {"pointers", "set_pointers=3", NULL},
    {"address", "set_address=1", NULL},
    {"inlined", "set_inlined=1", "store_ready"},
    {"state", "set_by_library?", NULL},
    {"or_device", "set_first=1", NULL},
    {"semaphore", "set_semaphore", NULL},
    {"mutex", "set_mutex", NULL},
    {"signal", "on_interrupt@4003=1 on_signal@a00", NULL},
    {"operations", "open_device=0 set_operations=1", NULL},
    {"element", "set_element?=1 set_first_element?=2", NULL},
    {"byte", "set_byte?=1", NULL},
    {"private", "set_private?=1", NULL},
};

/* With which value of its first variable a loop ends, and with which it continues. Unoptimized code
 * may not tell. */
static const struct {
    const char *shape;
    int64_t ends, continues;
    bool is_told; /* always */
} all_ends[] = {
    {"global", 1, 0, true},          {"bounded", 7, 0, true},  {"while_handling", 1, 0, true},
    {"field_of_struct", 3, 2, true}, {"bit", 12, 4, false},    {"atomic", 1, 0, false},
    {"count", 0, 1, false},          {"cleared", 1, 0, true},  {"pointer", 1, 0, false},
    {"pointers", 3, 0, true},        {"address", 1, 0, false}, {"inlined", 1, 0, false},
    {"either", 1, 0, false},         {"checked", 1, 0, true},
};

/* Which bit is tested is read only on x86-64, as are jumps through tables, of optimized code; two
 * words that are stored at once only on x86-64; pointers to arrays not if they are added from
 * memory (add rax, [table]); sums only on x86-64; whether a time-out leaves a loop only of optimized
 * code of x86-64. */
static bool is_judged(struct elf_file *file, const struct shape *shape)
{
    bool has_table = strcmp(shape->name, "phase") == 0,
         has_pair = strcmp(shape->name, "hooks") == 0,
         has_bits = strcmp(shape->name, "bit_field") == 0,
         has_sum = strcmp(shape->name, "summed") == 0;
    bool is_plain = strstr(program_path, "_O0") != NULL;
    if (strcmp(shape->name, "row") == 0 && strstr(program_path, "_O1"))
        return false;
    if (strstr(shape->name, "_part") && (is_plain || loop_code_is_arm64(file)))
        return false;
    return !(has_table && is_plain) &&
           !(loop_code_is_arm64(file) && (has_table || has_pair || has_bits || has_sum));
}

/* On arm64 only the program's own thread-local variables are read. */
static const char *expected_of(struct elf_file *file, const struct shape *shape)
{
    bool is_thread_local = strstr(shape->name, "_thread") != NULL;
    bool is_read = !loop_code_is_arm64(file) || elf_file_is_program(file);
    return is_thread_local && !is_read ? NULL : shape->expected;
}

/* `names` has the symbols, `code` the code. */
static uint32_t take_frames(struct elf_file *names, struct elf_file *code,
                            const struct shape *shape, struct loop_frame *ret)
{
    return loop_code_frames(names, code, shape->name, shape->has_caller, ret);
}

static bool is_same(const char *found, const char *expected)
{
    char turned[256];
    const char * or = expected ? strstr(expected, " or ") : NULL;
    const char *star = expected ? strchr(expected, '*') : NULL;
    if (star)
        return strncmp(found, expected, (size_t)(star - expected)) == 0;
    if (or) /* either order */
        snprintf(turned, sizeof(turned), "%s or %.*s", or +4, (int)(or -expected), expected);
    return expected && (strcmp(found, expected) == 0 || (or &&strcmp(found, turned) == 0));
}

/* With debug information. */
static void test_members(void **state)
{
    static const struct {
        const char *name, *member;
    } all[] = {
        {"field_of_struct", "settings.done"}, {"bit", "settings.bits"},
        {"bit_field", "picture.is_drawn"},    {"object", "job.is_done"},
        {"pointer", "window->is_shown"},      {"pointers", "window->document->state"},
        {"element", "elements[i].done"},      {"row", "table->rows[i].done"},
    };
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    for (size_t i = 0; elf_file_has_lines(file) && i < sizeof(all) / sizeof(all[0]); i++) {
        struct shape shape = {all[i].name, false, NULL};
        struct elf_member member;
        struct loop_frame frames[2];
        struct loop_flags flags;
        uint32_t count = take_frames(file, file, &shape, frames);
        if (!is_judged(file, &shape))
            continue;
        assert_true(loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags));
        assert_true(loop_flag_member(&flags.all[0], flags.head, &member));
        assert_string_equal(member.text, all[i].member);
    }
    elf_file_close(file);
}

static void test_shapes(void **state)
{
    (void)state;
    unsigned wrong = 0;
    struct elf_file *file = loop_code_open(program_path);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        char text[512] = "nothing";
        struct loop_frame frames[2];
        struct loop_flags flags;
        uint32_t count = take_frames(file, file, &shapes[i], frames);
        bool found = loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags);
        if (found)
            loop_flags_describe(&flags, text, sizeof(text));
        const char *expected = expected_of(file, &shapes[i]);
        if ((found ? is_same(text, expected) : !expected) || !is_judged(file, &shapes[i]))
            continue;
        wrong++;
        print_error("%s%s: expected %s, found %s\n", shapes[i].name,
                    shapes[i].has_caller ? " with its caller" : "", expected ? expected : "nothing",
                    text);
    }
    elf_file_close(file);
    assert_int_equal(wrong, 0);
}

/* Without symbols the address is the same. */
static void test_stripped(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path), *stripped = loop_code_open(stripped_path);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct loop_frame frames[2];
        struct loop_flags flags, named;
        char text[128];
        uint32_t count = take_frames(file, file, &shapes[i], frames);
        bool found = loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &named);
        take_frames(file, stripped, &shapes[i], frames);
        assert_int_equal(loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags),
                         found);
        assert_int_equal(flags.count, named.count);
        for (uint32_t k = 0; k < flags.count; k++) {
            assert_int_equal(flags.all[k].address, named.all[k].address);
            assert_int_equal(flags.all[k].links, named.all[k].links);
            bool is_exported = elf_file_variable(stripped, flags.all[k].address);
            if (flags.all[k].is_thread_local || flags.all[k].foreign || is_exported ||
                flags.all[k].is_mapped || flags.all[k].local.is_local)
                continue;
            assert_false(loop_flag_text(&flags.all[k], text, sizeof(text)));
            assert_memory_equal(text, "0x", 2);
        }
    }
    elf_file_close(stripped);
    elf_file_close(file);
}

/* --- writers --- */

static const struct shape *shape_of(const char *name)
{
    size_t i = 0;
    while (strcmp(shapes[i].name, name) != 0)
        i++;
    return &shapes[i];
}

static unsigned check_writers(struct elf_file *names, struct elf_file *code)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof(all_writers) / sizeof(all_writers[0]); i++) {
        char text[1024];
        struct loop_frame frames[2];
        struct loop_flags flags;
        struct code_writers writers;
        const struct shape *shape = shape_of(all_writers[i].shape);
        uint32_t count = take_frames(names, code, shape, frames);
        if (!is_judged(names, shape))
            continue;
        assert_true(loop_flags_find(frames, count, loop_code_is_arm64(names), NULL, &flags));
        bool found = code_writers_find(&flags.all[0], loop_code_is_arm64(names), &writers);
        assert_int_equal(found, writers.count > 0);
        loop_code_describe_writers(names, &writers, text, sizeof(text));
        const char *other = all_writers[i].alternative;
        if (strcmp(text, all_writers[i].expected) == 0 || (other && strcmp(text, other) == 0))
            continue;
        wrong++;
        print_error("%s: expected %s, found %s\n", all_writers[i].shape, all_writers[i].expected,
                    text);
    }
    return wrong;
}

static void test_writers(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path), *stripped = loop_code_open(stripped_path);
    assert_int_equal(check_writers(file, file), 0);
    assert_int_equal(check_writers(file, stripped), 0);
    elf_file_close(stripped);
    elf_file_close(file);
}

/* A write by show(), to which set_by_argument() gives the object. */
static void test_ways(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    struct loop_frame frames[2];
    struct loop_flags flags;
    struct code_writers writers;
    uint64_t start, show, bytes;
    uint32_t count = take_frames(file, file, shape_of("pointer"), frames), seen = 0;
    assert_true(loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags));
    assert_true(code_writers_find(&flags.all[0], loop_code_is_arm64(file), &writers));
    assert_true(loop_code_find(file, "set_by_argument", &start));
    assert_true(loop_code_find(file, "show", &show));
    for (uint32_t i = 0; i < writers.count; i++) {
        const struct code_writer *writer = &writers.all[i];
        assert_int_equal(writer->way[writer->way_count - 1], writer->address);
        if (writer->start != start)
            continue;
        seen++;
        assert_int_equal(writer->way_count, 2);
        assert_true(elf_file_function_range(file, writer->way[0], &start, &bytes));
        assert_int_equal(start, show);
    }
    assert_int_equal(seen, 1);
    elf_file_close(file);
}

/* The function's beginning is before the loop; nothing leads back to it. */
static void test_order(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    struct loop_frame frames[2];
    uint64_t start;
    take_frames(file, file, shape_of("global"), frames);
    assert_true(loop_code_find(file, "wait_global", &start));
    struct code_order *order = code_order_create(loop_code_is_arm64(file));
    assert_non_null(order);
    assert_true(code_may_lead(order, file, start, frames[0].address));
    assert_false(code_may_lead(order, file, frames[0].address, start));
    assert_true(code_may_lead(NULL, file, frames[0].address, start));
    code_order_destroy(order);
    elf_file_close(file);
}

static bool check_end(const struct loop_flag *flag, size_t row)
{
    enum loop_end ends = loop_tests_decide(&flag->tests, all_ends[row].ends);
    enum loop_end continues = loop_tests_decide(&flag->tests, all_ends[row].continues);
    return all_ends[row].is_told ? ends == LOOP_ENDS && continues == LOOP_CONTINUES
                                 : ends != LOOP_CONTINUES && continues != LOOP_ENDS;
}

static void test_ends(void **state)
{
    (void)state;
    unsigned wrong = 0, told = 0;
    struct elf_file *file = loop_code_open(program_path);
    for (size_t i = 0; i < sizeof(all_ends) / sizeof(all_ends[0]) && !loop_code_is_arm64(file);
         i++) {
        struct loop_frame frames[2];
        struct loop_flags flags;
        uint32_t count = take_frames(file, file, shape_of(all_ends[i].shape), frames);
        assert_true(loop_flags_find(frames, count, false, NULL, &flags));
        told += flags.all[0].tests.count > 0;
        if (!check_end(&flags.all[0], i)) {
            wrong++;
            print_error("%s: %u tests\n", all_ends[i].shape, flags.all[0].tests.count);
        }
    }
    print_message("%u told\n", told);
    elf_file_close(file);
    assert_int_equal(wrong, 0);
}

static bool has_caller(const struct code_caller *callers, uint32_t count, uint64_t start)
{
    while (count > 0 && callers[count - 1].start != start)
        count--;
    return count > 0;
}

static void test_callers(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    struct code_caller callers[CODE_CALLERS_MAX];
    uint64_t set, once, twice, other;
    assert_true(loop_code_find(file, "set_global", &set));
    assert_true(loop_code_find(file, "go_set_global", &once));
    assert_true(loop_code_find(file, "go_go_set_global", &twice));
    assert_true(loop_code_find(file, "set_by_argument", &other));
    uint32_t count = code_callers_find(file, &set, 1, callers);
    assert_int_equal(count, 2);
    assert_true(has_caller(callers, count, once));
    assert_true(has_caller(callers, count, twice));
    assert_false(has_caller(callers, count, other));
    elf_file_close(file);
}

/* Addresses outside of code, and frames without a file. */
static void test_nonsense(void **state)
{
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    struct loop_flags flags;
    for (uint64_t address = 0; address < 0x8000; address += 7) {
        struct loop_frame frames[] = {{.file = NULL},
                                      {.file = file, .address = address},
                                      {.file = file, .address = UINT64_MAX - address}};
        loop_flags_find(frames, 3, loop_code_is_arm64(file), NULL, &flags);
    }
    struct loop_frame wrong = {.file = file, .address = 0x1200};
    assert_false(loop_flags_find(&wrong, 1, !loop_code_is_arm64(file), NULL, &flags));
    assert_false(loop_flags_find(NULL, 0, loop_code_is_arm64(file), NULL, &flags));
    elf_file_close(file);
}

/* --- shared memory --- */

/* The functions that write the place in memory that may be shared. */
static void describe_shared(struct elf_file *file, const struct shared_roots *roots,
                            const struct loop_flag *flag, uint64_t place, char *buffer,
                            size_t bytes)
{
    struct code_writers all = {.count = 0}, writers;
    struct loop_flag use;
    for (uint32_t i = 0; shared_roots_flag(roots, i, file, flag, place, &use); i++) {
        (void)code_writers_find(&use, loop_code_is_arm64(file), &writers);
        for (uint32_t k = 0; k < writers.count; k++)
            all.all[all.count++] = writers.all[k];
    }
    loop_code_describe_writers(file, &all, buffer, bytes);
}

/* Another process may have other pointers to the same memory. */
static void test_shared(void **state)
{
    static const char *const waits[] = {"board", "mapped"};
    (void)state;
    struct elf_file *file = loop_code_open(program_path);
    struct shared_roots roots;
    shared_roots_find(file, loop_code_is_arm64(file), &roots);
    assert_int_equal(roots.count, 2);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        char text[256];
        uint64_t place;
        struct loop_frame frames[2];
        struct loop_flags flags;
        uint32_t count = take_frames(file, file, shape_of(waits[i]), frames);
        assert_true(loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags));
        assert_true(shared_roots_place(&roots, &flags.all[0], &place));
        assert_int_equal(place, 8);
        describe_shared(file, &roots, &flags.all[0], place, text, sizeof(text));
        assert_string_equal(text, "set_mapped=4 set_slate=2");
        describe_shared(file, &roots, &flags.all[0], 2 * 16 + 8, text, sizeof(text));
        assert_string_equal(text, "set_slate=3");
    }
    struct loop_frame frames[2];
    struct loop_flags flags;
    uint32_t count = take_frames(file, file, shape_of("pointer"), frames);
    assert_true(loop_flags_find(frames, count, loop_code_is_arm64(file), NULL, &flags));
    assert_false(shared_roots_place(&roots, &flags.all[0], &(uint64_t){0}));
    elf_file_close(file);
}

/* Whether the function goes on behind its call. */
static bool goes_on(const struct code_function *function)
{
    for (uint32_t i = 0; i < function->nodes.length; i++)
        if (function->nodes.data[i].flow == FLOW_CALL)
            return function->next[i][0] != CODE_NONE;
    fail();
    return false;
}

/* A comparison of something else says nothing about the number of cases, nor does one that some ways go past. A call that ends
 * the program does not come back, also if the program's own functions lead to it. */
static void test_ways_on(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t ways;
        bool ends;
    } all[] = {{"jump_checked", 4, false},    {"jump_unchecked", 0, false},
               {"jump_past_check", 0, false}, {"jump_in_loop", 4, false},
               {"call_dies", 0, true},        {"call_dies_inside", 0, true},
               {"call_may_die", 0, false}};
    struct instruction_decoder *decoder;
    struct elf_file *file = loop_code_open(program_path);
    assert_null(instruction_decoder_create(INSTRUCTION_X86_64, &decoder));
    struct code_library *library = code_library_create(decoder);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !loop_code_is_arm64(file); i++) {
        uint64_t start;
        assert_true(loop_code_find(file, all[i].name, &start));
        const struct code_function *function =
            code_library_function(library, code_library_image(library, file), start);
        assert_non_null(function);
        assert_int_equal(function->ways.length, all[i].ways);
        if (strncmp(all[i].name, "call", 4) == 0)
            assert_int_equal(goes_on(function), !all[i].ends);
    }
    code_library_destroy(library);
    instruction_decoder_destroy(decoder);
    elf_file_close(file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    program_path = argv[1];
    stripped_path = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_writers), cmocka_unit_test(test_callers),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_ways_on), cmocka_unit_test(test_ways),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
