/* The variable for which a process polls. test_loop_variable FOLDER: that of argus-recorder. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/diverge.h"
#include "plugin/steps/loop_variable.h"

struct fake {
    unsigned looks, interrupted_at; /* the look that tells of Ctrl-C; 0: none */
    unsigned files;                 /* the most that were seen in the folder */
    const char *folder;
};

static unsigned count_files(const char *folder)
{
    unsigned count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *entry; (entry = readdir(opened)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(opened);
    return count;
}

static bool interrupted(void *data)
{
    struct fake *fake = data;
    unsigned files = count_files(fake->folder);
    fake->files = files > fake->files ? files : fake->files;
    fake->looks++;
    return fake->interrupted_at && fake->looks >= fake->interrupted_at;
}

static void progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    (void)data;
    (void)what;
    (void)done;
    (void)total;
}

static void remark(void *data, const char *level, const char *text)
{
    (void)data;
    (void)level;
    (void)text;
}

static pid_t begin_spinning(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    volatile int is_done = 0;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!is_done)
        ;
    _exit(0);
}

static struct argus_error *find(struct fake *fake, struct loop_variables *ret)
{
    struct session session;
    struct session_host host = {
        .data = fake, .interrupted = interrupted, .remark = remark, .progress = progress};
    pid_t child = begin_spinning();
    session_init(&session, &host, stdout);
    struct argus_error *error =
        loop_variables_find(&session, (uint32_t)child, (uint32_t)child, ret);
    session_deinit(&session);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return error;
}

/* Some hundred steps of this loop would tell the variable. */
static void test_ctrl_c_is_an_error(void **state)
{
    char folder[] = "/tmp/argus-test-loop-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    struct fake fake = {.folder = folder};
    struct loop_variables found;
    struct argus_error *error = find(&fake, &found);
    if (error && error->code == ARGUS_ERROR_PERMISSION) {
        argus_error_destroy(error);
        rmdir(folder);
        skip();
    }
    if (error)
        fail_msg("%s", error->message);
    assert_true(found.count >= 1);
    assert_int_equal(found.all[0].bytes, sizeof(int));
    assert_true(fake.looks > 2000);
    fake = (struct fake){.folder = folder, .interrupted_at = fake.looks / 2};
    error = find(&fake, &found);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_INTERRUPTED);
    argus_error_destroy(error);
    assert_int_equal(fake.files, 0); /* if it were killed, nothing would remain */
    assert_int_equal(rmdir(folder), 0);
}

static void test_names(void **state)
{
    static const struct {
        const char *code, *steps;
        bool is_same;
    } rows[] = {
        {"job->is_done", "job->is_done", true},
        {"job->is_done", "job->is_cancelled", false},
        {"job->is_done", "job->is_done_too", false},
        {"jobs[i].is_done", "jobs[12].is_done", true},
        {"jobs[i].is_done", "jobs[12].is_cancelled", false},
        {"jobs[i].is_done", "jobs[].is_done", false},
        {"jobs[i]", "jobs[3", false},
        {"jobs[i][i]", "jobs[0][7]", true},
        {"jobs[3].is_done", "jobs[3].is_done", true},
        {"jobs[3].is_done", "jobs[4].is_done", false},
        {"stack of main+0x18", "0x7ffc00001018", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct loop_variable variable = {.address = 1};
        snprintf(variable.name, sizeof(variable.name), "%s", rows[i].steps);
        if (loop_variable_is_called(&variable, rows[i].code) != rows[i].is_same)
            fail_msg("%s and %s", rows[i].code, rows[i].steps);
    }
}

static void test_names_of_candidates(void **state)
{
    static const struct {
        struct argus_flag_candidate of;
        const char *name;
    } rows[] = {
        {{.path = "rbx->0x18", .member = "window->is_ready"}, "window->is_ready"},
        {{.path = "rbx->0x18"}, "the field at +0x18 of an object"},
        {{.path = "x19->0x18->-0x8"}, "the field at -0x8 of an object"},
        {{.path = "window->0x18", .image = "/bin/editor"}, "window->0x18"},
        {{.path = "get_window()->0x18"}, "get_window()->0x18"},
        {{.symbol = "settings", .symbol_offset = 8}, "settings+0x8"},
        {{.address = 0x7000}, "0x7000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[160];
        stepped_variable_name(&rows[i].of, name, sizeof(name));
        assert_string_equal(name, rows[i].name);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctrl_c_is_an_error),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_of_candidates),
    };
    if (argc > 1)
        setenv("PATH", argv[1], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
