/* Who may look into a process: its user, but not after it had more rights, or if it forbids it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_owner.h"

enum { USER = 12345 };

/* A process of the user, which waits to be killed. As root had it before, it is one that gave up
 * rights, unless it says that it may be inspected. An emulator (qemu-user) does not let it say so:
 * then there is nothing to test. */
static pid_t create_process(bool is_inspectable)
{
    int ready[2];
    bool is_made = false;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_user = geteuid() != 0 || setresuid(USER, USER, USER) == 0;
        is_made = is_user && prctl(PR_SET_DUMPABLE, is_inspectable, 0, 0, 0) == 0;
        if (write(ready[1], &is_made, sizeof(is_made)) != sizeof(is_made))
            _exit(1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &is_made, sizeof(is_made)), sizeof(is_made));
    close(ready[0]);
    close(ready[1]);
    if (is_made)
        return pid;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    skip();
    return -1;
}

static int code_of(bool is_inspectable, uid_t uid)
{
    pid_t pid = create_process(is_inspectable);
    struct argus_error *error = process_check_owner("watch", (uint32_t)pid, uid);
    int code = error ? (int)error->code : 0;
    argus_error_destroy(error);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return code;
}

static void test_a_process_that_had_rights(void **state)
{
    uid_t user = geteuid() ? geteuid() : USER;
    (void)state;
    assert_int_equal(code_of(true, user), 0);
    assert_int_equal(code_of(false, user), ARGUS_ERROR_PERMISSION);
    assert_int_equal(code_of(true, user + 1), ARGUS_ERROR_PERMISSION);
    assert_int_equal(code_of(false, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_process_that_had_rights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
