/* Which files of hangs are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "plugin/commands/hang_quota.h"

#define MB (1ull << 20)

static struct hang_file file(const char *process, uint64_t signature, uint64_t wall_ns,
                             uint64_t duration_ns)
{
    struct hang_file made = {
        .signature = signature, .wall_ns = wall_ns, .duration_ns = duration_ns, .bytes = 10 * MB};
    made.tid = wall_ns; /* each another freeze */
    snprintf(made.process, sizeof(made.process), "%s", process);
    snprintf(made.name, sizeof(made.name), "%s-%llu", process, (unsigned long long)wall_ns);
    return made;
}

/* The times of the files that are kept, the newest first: "9 7 1". */
static void expect_kept(struct hang_file *files, size_t count, uint64_t most_of_kind,
                        uint64_t most_bytes, const char *wanted)
{
    const struct hang_quota quota = {most_of_kind, most_bytes};
    char kept[256] = "";
    hang_quota_choose(files, count, &quota);
    for (size_t i = 0; i < count; i++)
        if (!files[i].drop)
            snprintf(kept + strlen(kept), sizeof(kept) - strlen(kept), "%s%llu", kept[0] ? " " : "",
                     (unsigned long long)files[i].wall_ns);
    assert_string_equal(kept, wanted);
}

static void test_longest_and_newest(void **state)
{
    (void)state;
    struct hang_file files[] = {file("a", 1, 1, 5), file("a", 1, 2, 90), file("a", 1, 3, 7),
                                file("a", 1, 4, 6), file("a", 1, 5, 5)};
    expect_kept(files, 5, 10, UINT64_MAX, "5 4 3 2 1");
    expect_kept(files, 5, 3, UINT64_MAX, "5 4 2");
    expect_kept(files, 5, 2, UINT64_MAX, "5 2");
    expect_kept(files, 5, 1, UINT64_MAX, "2");
}

static void test_of_two_as_long_the_newer(void **state)
{
    (void)state;
    struct hang_file files[] = {file("a", 1, 1, 5), file("a", 1, 2, 5), file("a", 1, 3, 5)};
    expect_kept(files, 3, 2, UINT64_MAX, "3 2");
}

/* Files of other programs, and of other hang places in the same program, are kept. */
static void test_each_kind_alone(void **state)
{
    (void)state;
    struct hang_file files[] = {file("script", 1, 10, 5), file("script", 1, 11, 5),
                                file("script", 1, 12, 5), file("script", 2, 3, 5),
                                file("editor", 1, 1, 5),  file("editor", 0, 2, 5)};
    expect_kept(files, 6, 1, UINT64_MAX, "12 3 2 1");
}

/* The quota is reached: the third file of a kind is deleted first, then the second, then the oldest
 * file. */
static void test_folder_full(void **state)
{
    (void)state;
    struct hang_file files[] = {file("a", 1, 1, 90), file("a", 1, 2, 5), file("a", 1, 3, 5),
                                file("b", 1, 4, 5), file("b", 1, 5, 9)};
    expect_kept(files, 5, 3, 50 * MB, "5 4 3 2 1");
    expect_kept(files, 5, 3, 40 * MB, "5 4 3 1");
    expect_kept(files, 5, 3, 30 * MB, "5 4 1");
    expect_kept(files, 5, 3, 20 * MB, "5 1");
    expect_kept(files, 5, 3, 10 * MB, "5");
    expect_kept(files, 5, 3, 0, "5"); /* what was just written */
    expect_kept(files, 0, 3, 0, "");
}

/* A program that freezes in many places does not displace the only file of another one. */
static void test_program_with_most_files_loses(void **state)
{
    (void)state;
    struct hang_file files[] = {file("editor", 1, 1, 5), file("script", 1, 2, 5),
                                file("script", 2, 3, 5), file("script", 3, 4, 5),
                                file("script", 3, 5, 5)};
    expect_kept(files, 5, 3, 40 * MB, "5 3 2 1");
    expect_kept(files, 5, 3, 30 * MB, "5 3 1");
    expect_kept(files, 5, 3, 20 * MB, "5 1");
    expect_kept(files, 5, 3, 10 * MB, "5");
}

static struct hang_file snapshot(uint64_t tid, uint64_t wall_ns, uint64_t duration_ns,
                                 uint64_t order_ns)
{
    struct hang_file made = file("emacs", tid + wall_ns, wall_ns, duration_ns);
    made.tid = tid;
    made.order_ns = order_ns;
    return made;
}

/* Two snapshots of one freeze: the first one stays, unless the other one shows more of it. */
static void test_one_file_for_a_freeze(void **state)
{
    (void)state;
    struct hang_file same[] = {snapshot(7, 1000, 500, 1), snapshot(7, 1001, 500, 2),
                               snapshot(8, 1002, 500, 3), snapshot(7, 2000, 500, 4)};
    expect_kept(same, 4, 3, UINT64_MAX, "2000 1002 1000");
    struct hang_file longer[] = {snapshot(7, 1000, 400, 1), snapshot(7, 1001, 5000, 2)};
    expect_kept(longer, 2, 3, UINT64_MAX, "1001");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(hang_quota_is_name("hang-gedit-12-20261123T143210.argus"));
    assert_true(hang_quota_is_name("hang-a-b_T-12-20261123T143210-2.argus"));
    assert_false(hang_quota_is_name("hang-gedit.argus"));
    assert_false(hang_quota_is_name("hang-gedit-12-20261123T143210.argus.graph"));
    assert_false(hang_quota_is_name("mine-hang-gedit-12-20261123T143210.argus"));
    assert_false(hang_quota_is_name("hang-gedit-12-20261123T143210-mine.argus"));
    assert_false(hang_quota_is_name("hang-T-12345678901234567890.argus"));
    assert_false(hang_quota_is_name(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest_and_newest),
        cmocka_unit_test(test_of_two_as_long_the_newer),
        cmocka_unit_test(test_each_kind_alone),
        cmocka_unit_test(test_folder_full),
        cmocka_unit_test(test_program_with_most_files_loses),
        cmocka_unit_test(test_one_file_for_a_freeze),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
