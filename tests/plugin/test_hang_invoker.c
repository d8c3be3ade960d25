/* What the watcher of --on-hang keeps of root's environment under sudo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/commands/hang_folder.h"

enum { KEPT = 0, LEFT_BEHIND = 1, FAILED = 2 };

/* Becomes user 12345 in a child with this variable; KEPT: it still has its value. */
static int after_leaving(const char *name, const char *value)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        setenv("SUDO_UID", "12345", 1);
        setenv("SUDO_GID", "12345", 1);
        setenv("SUDO_USER", "nobody", 1);
        setenv(name, value, 1);
        if (!hang_folder_become_invoker() || getuid() != 12345)
            _exit(FAILED);
        const char *now = getenv(name);
        _exit(now && strcmp(now, value) == 0 ? KEPT : LEFT_BEHIND);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void root_s_session_is_left(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(after_leaving("XDG_RUNTIME_DIR", "/run/user/0"), LEFT_BEHIND);
    assert_int_equal(after_leaving("XDG_CACHE_HOME", "/root/.cache"), LEFT_BEHIND);
    assert_int_equal(after_leaving("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus,guid=1"),
                     LEFT_BEHIND);
    assert_int_equal(after_leaving("XDG_RUNTIME_DIR", "/run/user/012345"), KEPT);
    assert_int_equal(after_leaving("XDG_CACHE_HOME", "/home/root/.cache"), KEPT);
    assert_int_equal(after_leaving("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/12345/bus"),
                     KEPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(root_s_session_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
