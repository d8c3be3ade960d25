/* Where a trace may be written, and which files remain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/client/output.h"

static char directory[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/argus-output-XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    DIR *entries = opendir(directory);
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        unlink(entry->d_name);
        rmdir(entry->d_name);
    }
    closedir(entries);
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *entries = opendir(directory);
    struct dirent *entry;
    while ((entry = readdir(entries)))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_refused(const char *path, const char *words)
{
    struct output output;
    struct argus_error *error = output_create(path, &output);
    assert_non_null(error);
    assert_non_null(strstr(error->message, words));
    argus_error_destroy(error);
}

static void a_new_file_is_private(void **state)
{
    (void)state;
    struct output output;
    struct stat status;
    assert_null(output_create("new.argus", &output));
    assert_null(output_commit(&output));
    output_deinit(&output);
    assert_int_equal(stat("new.argus", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(count_files(), 1);
}

static void an_old_file_stays_until_the_commit(void **state)
{
    (void)state;
    struct output output;
    struct stat status;
    write_file("old.argus", "old");
    assert_null(output_create("old.argus", &output));
    output_deinit(&output);
    assert_int_equal(stat("old.argus", &status), 0);
    assert_int_equal(status.st_size, 3);

    assert_null(output_create("old.argus", &output));
    assert_null(output_commit(&output));
    output_deinit(&output);
    assert_int_equal(stat("old.argus", &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(count_files(), 1);
}

static void other_things_are_refused(void **state)
{
    (void)state;
    write_file("target", "precious");
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    expect_refused("link", "symbolic link");
    expect_refused("fifo", "not a regular file");
    expect_refused("folder", "directory");
    expect_refused("missing/x.argus", "No such file");
    expect_refused("target/x.argus", "Not a directory");
    assert_int_equal(count_files(), 4);
}

/* Another program creates a link there during the recording. */
static void a_link_made_later_is_not_followed(void **state)
{
    (void)state;
    struct output output;
    write_file("target", "precious");
    assert_null(output_create("new.argus", &output));
    assert_int_equal(symlink("target", "new.argus"), 0);
    struct argus_error *error = output_commit(&output);
    assert_non_null(error);
    argus_error_destroy(error);
    output_deinit(&output);
    struct stat status;
    assert_int_equal(stat("target", &status), 0);
    assert_int_equal(status.st_size, strlen("precious"));
}

static void expect_text(const char *path, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fgets(got, sizeof(got), file) || !*text);
    fclose(file);
    assert_string_equal(got, text);
}

static void write_keeping(const char *text, bool replaces)
{
    struct output output;
    assert_null(output_create_keeping("argus.argus", &output));
    assert_int_equal(write(output.fd, text, strlen(text)), strlen(text));
    assert_null(output_commit(&output));
    assert_int_equal(output.replaced, replaces);
    output_deinit(&output);
}

static void what_is_there_can_be_kept(void **state)
{
    (void)state;
    write_keeping("first", false);
    write_keeping("second", true);
    expect_text("argus.argus", "second");
    expect_text("argus.argus.old", "first");
    write_keeping("third", true);
    expect_text("argus.argus", "third");
    expect_text("argus.argus.old", "second");
    assert_int_equal(count_files(), 2);
    unlink("argus.argus");
    unlink("argus.argus.old");
}

/* The existing trace is not changed, and a recording that could not replace it is not started. */
static void where_it_cannot_be_kept_nothing_begins(void **state)
{
    struct output output;
    (void)state;
    write_file("argus.argus", "first");
    assert_int_equal(mkdir("argus.argus.old", 0700), 0);
    struct argus_error *error = output_create_keeping("argus.argus", &output);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "argus.argus.old: it is a directory"));
    argus_error_destroy(error);
    expect_text("argus.argus", "first");
    assert_int_equal(count_files(), 2);
    unlink("argus.argus");
    rmdir("argus.argus.old");
}

/* A failed recording leaves the previous trace in place. */
static void what_is_not_committed_moves_nothing(void **state)
{
    struct output output;
    (void)state;
    write_file("argus.argus", "first");
    assert_null(output_create_keeping("argus.argus", &output));
    output_deinit(&output);
    expect_text("argus.argus", "first");
    assert_int_equal(count_files(), 1);
    unlink("argus.argus");
}

static void a_renamed_folder_is_followed(void **state)
{
    (void)state;
    struct output output;
    assert_int_equal(mkdir("before", 0700), 0);
    assert_null(output_create_keeping("before/t.argus", &output));
    assert_int_equal(rename("before", "between"), 0);
    assert_null(output_commit(&output));
    assert_int_equal(access("between/t.argus", F_OK), 0);
    assert_false(output_follow(&output));
    assert_int_equal(rename("between", "after"), 0);
    assert_true(output_follow(&output));
    assert_non_null(strstr(output.path, "/after/t.argus"));
    assert_int_equal(unlink("after/t.argus"), 0);
    assert_false(output_follow(&output)); /* it is nowhere */
    output_deinit(&output);
    assert_int_equal(rmdir("after"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_is_private, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_old_file_stays_until_the_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_things_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_made_later_is_not_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_there_can_be_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_it_cannot_be_kept_nothing_begins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_committed_moves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_renamed_folder_is_followed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
