/* The ends that a process has open, as a child of this program has them. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "linux/display_sockets.h"
#include "linux/open_ends.h"
#include "linux/pid_namespace.h"

static void test_targets(void **state)
{
    (void)state;
    assert_int_equal(open_ends_parse("pipe:[123]"), 123);
    assert_int_equal(open_ends_parse("socket:[18446744073709551615]"), UINT64_MAX);
    assert_int_equal(open_ends_parse("anon_inode:[eventfd]"), 0);
    assert_int_equal(open_ends_parse("pipe:"), 0);
    assert_int_equal(open_ends_parse(""), 0);
}

static void test_display_paths(void **state)
{
    (void)state;
    assert_true(display_path("/tmp/.X11-unix/X0"));
    assert_true(display_path("@/tmp/.X11-unix/X99"));
    assert_true(display_path("/run/user/1000/wayland-1"));
    assert_false(display_path("/tmp/.X11-unix/"));
    assert_false(display_path("/run/user/1000/wayland-proxy"));
    assert_false(display_path("/run/user/1000/bus"));
}

static void test_display_sockets(void **state)
{
    (void)state;
    char path[] = "/tmp/argus-unix-XXXXXX";
    inode_list sockets = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "Num       RefCount Protocol Flags    Type St Inode Path\n"
                "00000000c: 00000002 00000000 00010000 0001 01 30 /tmp/.X11-unix/X0\n"
                "00000000c: 00000003 00000000 00000000 0001 03 21\n"
                "00000000c: 00000003 00000000 00000000 0001 03 20 @/tmp/.X11-unix/X0\n"
                "00000000c: 00000003 00000000 00000000 0001 03 25 /run/user/0/bus\n"
                "broken");
    close(fd);
    assert_true(display_sockets_read(path, &sockets));
    unlink(path);
    assert_int_equal(sockets.length, 2);
    assert_true(display_sockets_have(&sockets, 20) && display_sockets_have(&sockets, 30));
    assert_false(display_sockets_have(&sockets, 21) || display_sockets_have(&sockets, 25));
    assert_true(display_sockets_read("/nowhere", &sockets));
    vec_deinit(&sockets);
}

static uint64_t inode_of(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return status.st_ino;
}

/* The access with which process `pid` has `inode` open at descriptor `fd`; 0: it has not. */
static uint64_t found_access(const record_list *found, pid_t pid, uint64_t inode, int fd)
{
    for (size_t i = 0; i < found->length; i++) {
        const struct argus_record *record = &found->data[i];
        if (record->debugid == ARGUS_ID_OPEN_END && record->tid == (uint64_t)pid &&
            record->arg[0] == inode && record->arg[2] == (uint64_t)fd && record->timestamp == 7)
            return record->arg[1];
    }
    return 0;
}

static void test_a_child(void **state)
{
    (void)state;
    char path[] = "/tmp/argus-ends-XXXXXX";
    int pipes[2], sockets[2];
    record_list found = {0};
    if (!pid_namespace_fits_proc())
        skip();
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fifo >= 0);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    bool done = open_ends_read(7, &found);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    unlink(path);
    assert_true(done);
    assert_int_equal(found_access(&found, child, inode_of(pipes[0]), pipes[0]),
                     ARGUS_OPEN_END_READS);
    assert_int_equal(found_access(&found, child, inode_of(pipes[1]), pipes[1]),
                     ARGUS_OPEN_END_WRITES);
    assert_int_equal(found_access(&found, child, inode_of(sockets[1]), sockets[1]),
                     ARGUS_OPEN_END_READS | ARGUS_OPEN_END_WRITES);
    assert_int_equal(found_access(&found, child, inode_of(fifo), fifo),
                     ARGUS_OPEN_END_READS | ARGUS_OPEN_END_WRITES);
    assert_int_equal(found_access(&found, child, inode_of(file), file), 0);
    assert_int_equal(found_access(&found, getpid(), inode_of(fifo), fifo), 0);
    vec_deinit(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets), cmocka_unit_test(test_display_paths),
        cmocka_unit_test(test_display_sockets), cmocka_unit_test(test_a_child)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
