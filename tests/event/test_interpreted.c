/* Frames of an interpreter in stacks, and lines. */
#include "event/names/interpreted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BEFORE ARGUS_FRAME_MARK_BEFORE
#define AFTER  ARGUS_FRAME_MARK_AFTER
#define INSIDE ARGUS_FRAME_MARK_INSIDE

static size_t take(struct interpreted *interpreted, uint64_t low, uint64_t high, bool *ret_cut)
{
    const struct interpreted_place place = {low, high, 0};
    uint64_t found[8];
    return interpreted_take(interpreted, &place, found, 8, ret_cut);
}

static size_t take_in(struct interpreted *interpreted, uint64_t function)
{
    const struct interpreted_place place = {0x1000, 0x1080, function};
    uint64_t found[8];
    bool cut;
    return interpreted_take(interpreted, &place, found, 8, &cut);
}

static void frames_belong_to_their_mark(void **state)
{
    static const uint64_t entries[] = {BEFORE | 0x1010, 0x7002, 0x7004, BEFORE | 0x1110, 0x7006};
    struct interpreted interpreted = {entries, 5, 0, false};
    bool cut;
    (void)state;
    assert_int_equal(take(&interpreted, 0xf00, 0x1010, &cut), 0); /* a callee in C */
    assert_int_equal(take(&interpreted, 0x1010, 0x1080, &cut), 2);
    assert_false(cut);
    assert_int_equal(take(&interpreted, 0x1080, 0x1100, &cut), 0);
    assert_int_equal(take(&interpreted, 0x1100, 0x1180, &cut), 1);
    assert_int_equal(take(&interpreted, 0x1180, UINT64_MAX, &cut), 0);
}

static void mark_behind(void **state)
{
    static const uint64_t entries[] = {0x7002, 0x7004, AFTER | 0x1010, 0x7006};
    struct interpreted interpreted = {entries, 4, 0, false};
    bool cut;
    (void)state;
    assert_int_equal(take(&interpreted, 0xf00, 0x1010, &cut), 0);
    assert_int_equal(take(&interpreted, 0x1000, 0x1080, &cut), 2);
    assert_int_equal(take(&interpreted, 0x1080, 0x1100, &cut), 0); /* the last one has no mark */
}

/* Each group belongs to the next frame of the function that its mark names. */
static void frames_belong_to_their_function(void **state)
{
    static const uint64_t entries[] = {INSIDE | 0x5000, 0x7002, 0x7004, INSIDE | 0x5000, 0x7006};
    struct interpreted interpreted = {entries, 5, 0, false};
    (void)state;
    assert_int_equal(interpreted_function(&interpreted), 0x5000);
    assert_int_equal(take_in(&interpreted, 0), 0); /* not known */
    assert_int_equal(take_in(&interpreted, 0x5010), 0);
    assert_int_equal(take_in(&interpreted, 0x5000), 2);
    assert_int_equal(interpreted_function(&interpreted), 0x5000);
    assert_int_equal(take_in(&interpreted, 0x1010), 0);
    assert_int_equal(take_in(&interpreted, 0x5000), 1);
    assert_int_equal(interpreted_function(&interpreted), 0);
    assert_int_equal(take_in(&interpreted, 0x5000), 0);
}

/* Marks without frames or without an address, and of two kinds. */
static void broken_marks(void **state)
{
    static const uint64_t empty[] = {INSIDE | 0x5000, INSIDE | 0x5000, 0x7002};
    static const uint64_t nowhere[] = {INSIDE, 0x7002};
    static const uint64_t behind[] = {0x7002, INSIDE | 0x5000, 0x7004};
    struct interpreted interpreted = {empty, 3, 0, false};
    (void)state;
    assert_int_equal(take_in(&interpreted, 0x5000), 0);
    assert_int_equal(take_in(&interpreted, 0x5000), 1);
    interpreted = (struct interpreted){nowhere, 2, 0, false};
    assert_int_equal(take_in(&interpreted, 0), 0);
    interpreted = (struct interpreted){behind, 3, 0, false}; /* frames before the first mark */
    assert_int_equal(interpreted_function(&interpreted), 0);
    assert_int_equal(take_in(&interpreted, 0x5000), 0);
}

static void even_lines(void **state)
{
    static const uint8_t table[] = {ARGUS_CODE_EVEN_LINES};
    struct argus_code_entry code = {.bytes = 8, .line = 10, .table = table, .table_bytes = 1};
    (void)state;
    assert_int_equal(interpreted_line(&code, 0), 10);
    assert_int_equal(interpreted_line(&code, 4), 12);
    assert_int_equal(interpreted_line(&code, 6), 0); /* not known */
    assert_int_equal(interpreted_line(&code, 8), 0); /* not of this function */
    code.line = UINT32_MAX;
    assert_int_equal(interpreted_line(&code, 0), 0);
}

static void too_many(void **state)
{
    static const uint64_t entries[] = {BEFORE | 0x1010, 0x7002, 0x7004};
    struct interpreted interpreted = {entries, 3, 0, true};
    const struct interpreted_place place = {0x1000, 0x1080, 0};
    uint64_t found[8];
    bool cut;
    (void)state;
    assert_int_equal(take(&interpreted, 0x1000, 0x1080, &cut), 2);
    assert_true(cut);
    interpreted = (struct interpreted){entries, 3, 0, false};
    assert_int_equal(interpreted_take(&interpreted, &place, found, 1, &cut), 1);
    assert_true(cut);
}

static void lines(void **state)
{
    static const uint8_t table[] = {
        0x80 | 15 << 3 | 0,                   /* one unit without a line */
        0x80 | 10 << 3 | 1, 0,    4,          /* two of the first line */
        0x80 | 11 << 3 | 0, 0,    4,          /* one of the next */
        0x80 | 13 << 3 | 0, 0x48, 0x01,       /* one, 36 further on (72 = 8 + 1 << 6) */
        0x80 | 14 << 3 | 7, 0x05, 0,    1, 1, /* eight, 2 back */
        0x80 | 2 << 3 | 0,  0x11,             /* one of the same, by columns only */
    };
    static const struct {
        uint64_t offset;
        uint32_t line;
    } cases[] = {{0, 0},   {2, 10},  {4, 10},  {6, 11}, {8, 47},
                 {10, 45}, {24, 45}, {26, 45}, {28, 0}, {UINT64_MAX, 0}};
    struct argus_code_entry code = {.line = 10, .table = table, .table_bytes = sizeof(table)};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(interpreted_line(&code, cases[i].offset), cases[i].line);
    code.table_bytes = 4; /* cut off: read as far as possible */
    assert_int_equal(interpreted_line(&code, 4), 10);
    assert_int_equal(interpreted_line(&code, 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_belong_to_their_mark),
        cmocka_unit_test(mark_behind),
        cmocka_unit_test(frames_belong_to_their_function),
        cmocka_unit_test(broken_marks),
        cmocka_unit_test(even_lines),
        cmocka_unit_test(too_many),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
