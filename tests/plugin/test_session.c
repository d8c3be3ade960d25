/* A minimal front end: what commands do when the user interrupts them, and the state that a session
 * keeps. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/trace.h"
#include "plugin/command.h"
#include "plugin/session_trace.h"

struct fake {
    struct session session;
    bool interrupt;
    char remarks[4096];
    char *text; /* what the commands printed; owned */
    size_t length;
    char path[64];
};

static bool interrupted(void *data)
{
    return ((struct fake *)data)->interrupt;
}

static void remark(void *data, const char *level, const char *text)
{
    struct fake *fake = data;
    size_t used = strlen(fake->remarks);
    snprintf(fake->remarks + used, sizeof(fake->remarks) - used, "%s: %s\n", level, text);
}

static void progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    (void)data;
    (void)what;
    (void)done;
    (void)total;
}

static bool can_ask(void *data)
{
    (void)data;
    return false;
}

static bool read_line(void *data, const char *text, const char *prompt, char *ret, size_t ret_bytes)
{
    (void)data;
    (void)text;
    (void)prompt;
    (void)ret;
    (void)ret_bytes;
    fail_msg("asked without a terminal");
    return false;
}

/* A trace with one running thread, in a file of mkstemp(). */
static void write_trace(char *path)
{
    const struct argus_trace_header header = {
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 1,
        .host = "test",
    };
    const struct argus_record records[] = {
        {.timestamp = 1000, .arg = {0, 7}, .tid = 0, .debugid = ARGUS_ID_SWITCH},
        {.timestamp = 2000, .arg = {1, 0}, .tid = 7, .debugid = ARGUS_ID_SWITCH},
    };
    struct argus_writer *writer;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_null(argus_writer_create(fd, &header, &writer));
    assert_null(argus_writer_records(writer, 0, records, 2, 0));
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    close(fd);
}

static int setup(void **state)
{
    struct fake *fake = calloc(1, sizeof(*fake));
    struct session_host host = {fake, interrupted, remark, progress, read_line, can_ask, NULL};
    strcpy(fake->path, "/tmp/argus-test-session-XXXXXX");
    write_trace(fake->path);
    session_init(&fake->session, &host, open_memstream(&fake->text, &fake->length));
    *state = fake;
    return 0;
}

static int teardown(void **state)
{
    struct fake *fake = *state;
    session_deinit(&fake->session);
    fclose(fake->session.out);
    free(fake->text);
    unlink(fake->path);
    free(fake);
    return 0;
}

static struct argus_error *run(struct fake *fake, int code, const char *one, const char *two)
{
    const char *argv[] = {one, two};
    struct argus_error *error = NULL;
    int got = command_line_run(&fake->session, two ? 2 : 1, argv, &error);
    if (got != code)
        fail_msg("argus %s: exit code %d (%s)", one, got, error ? error->message : "no error");
    return error;
}

static void test_analysis_stops_when_interrupted(void **state)
{
    static const char *const names[] = {"dump", "verify", "graph", "hangs", "schema"};
    struct fake *fake = *state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fake->interrupt = true;
        struct argus_error *error = run(fake, EXIT_CODE_FAILED, names[i], fake->path);
        assert_non_null(error);
        assert_int_equal(error->code, ARGUS_ERROR_INTERRUPTED);
        argus_error_destroy(error);
        fake->interrupt = false;
        assert_null(run(fake, EXIT_CODE_DONE, names[i], fake->path));
    }
}

static void test_interrupted_load_keeps_what_was_loaded(void **state)
{
    struct fake *fake = *state;
    fake->session.in_lldb = true;
    assert_null(run(fake, EXIT_CODE_DONE, "load", fake->path));
    const struct session_trace *before = fake->session.trace;
    fake->interrupt = true;
    argus_error_destroy(run(fake, EXIT_CODE_FAILED, "load", fake->path));
    fake->interrupt = false;
    argus_error_destroy(run(fake, EXIT_CODE_FAILED, "load", "/nosuch.argus"));
    assert_ptr_equal(fake->session.trace, before);
    assert_null(run(fake, EXIT_CODE_DONE, "graph", NULL));
}

static void test_nothing_stays_open_in_the_shell(void **state)
{
    struct fake *fake = *state;
    assert_null(run(fake, EXIT_CODE_DONE, "graph", fake->path));
    assert_null(fake->session.once);
    assert_null(fake->session.trace);
    argus_error_destroy(run(fake, EXIT_CODE_USAGE, "graph", NULL));
}

static void test_damage_is_said_and_is_exit_code_4(void **state)
{
    struct fake *fake = *state;
    assert_int_equal(truncate(fake->path, 4096 + 64), 0);
    assert_null(run(fake, EXIT_CODE_DAMAGED, "info", fake->path));
    assert_non_null(strstr(fake->remarks, "warning: "));
    assert_non_null(strstr(fake->remarks, fake->path));
}

static void test_commands_know_where_they_exist(void **state)
{
    struct fake *fake = *state;
    argus_error_destroy(run(fake, EXIT_CODE_USAGE, "load", fake->path));
    fake->session.in_lldb = true;
    argus_error_destroy(run(fake, EXIT_CODE_USAGE, "debug", fake->path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_analysis_stops_when_interrupted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_load_keeps_what_was_loaded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nothing_stays_open_in_the_shell, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage_is_said_and_is_exit_code_4, setup, teardown),
        cmocka_unit_test_setup_teardown(test_commands_know_where_they_exist, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
