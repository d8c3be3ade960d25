/* What descriptors of a process have pending, and whether it has windows: on real descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "recorder/server/poll_set.h"
#include "recorder/server/windows.h"

static void sets_that_cover(void **state)
{
    (void)state;
    struct poll_set loop = {
        .kind = POLL_SET_ARRAY, .count = 2, .words = {3 | 1ull << 32, 5 | 1ull << 32}};
    struct poll_set handler = {.kind = POLL_SET_ARRAY, .count = 1, .words = {9 | 1ull << 32}};
    struct poll_set epoll = {.kind = POLL_SET_EPOLL, .object = 5}, unknown = {.object = 5};
    assert_false(poll_set_covers(&handler, &loop));
    assert_true(poll_set_covers(&loop, &epoll));
    assert_true(poll_set_covers(&epoll, &epoll));
    assert_false(poll_set_covers(&epoll, &loop));
    assert_false(poll_set_covers(&unknown, &loop));
    assert_false(poll_set_covers(&loop, &unknown));
    handler.words[0] = 3;          /* requests no events */
    loop.words[1] = 0xffffffffull; /* is ignored */
    assert_false(poll_set_covers(&handler, &loop));
    handler.words[0] = 3 | 1ull << 32;
    assert_true(poll_set_covers(&handler, &loop));
}

static void descriptors_of_one_set_only(void **state)
{
    (void)state;
    struct poll_set loop = {
        .kind = POLL_SET_ARRAY, .count = 2, .words = {3 | 1ull << 32, 5 | 1ull << 32}};
    struct poll_set bits = {.kind = POLL_SET_BITS, .count = 2, .words = {1 << 5 | 1 << 9, 2}};
    struct poll_set epoll = {.kind = POLL_SET_EPOLL, .object = 5};
    struct poll_set rest = poll_set_without(&bits, &loop);
    assert_int_equal(rest.count, 2);
    assert_int_equal((uint32_t)rest.words[0], 9);
    assert_int_equal((uint32_t)rest.words[1], 65);
    assert_int_equal(poll_set_without(&loop, &loop).count, 0);
    assert_int_equal(poll_set_without(&loop, &epoll).count, 0);
    assert_int_equal(poll_set_without(&epoll, &loop).count, 0);
}

static void what_lies_in_a_pipe_is_ready(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct poll_set set = {.kind = POLL_SET_ARRAY, .count = 1};
    set.words[0] = (uint64_t)ends[0] | 1ull << 32;
    assert_false(poll_set_is_ready(&set, (uint32_t)getpid()));
    assert_int_equal(write(ends[1], "k", 1), 1);
    assert_true(poll_set_is_ready(&set, (uint32_t)getpid()));
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1); /* the byte is still there */
    close(ends[0]);
    close(ends[1]);
    assert_false(poll_set_is_ready(&set, (uint32_t)getpid()));
}

/* A line typed ahead is for the next reader of the terminal; single keys are for the program that
 * requested them. */
static void a_line_typed_ahead_is_not_ready(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios mode;
    if (master < 0 || grantpt(master) || unlockpt(master))
        skip();
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    struct poll_set set = {.kind = POLL_SET_ARRAY, .count = 1};
    set.words[0] = (uint64_t)terminal | 1ull << 32;
    assert_int_equal(write(master, "make\n", 5), 5);
    assert_false(poll_set_is_ready(&set, (uint32_t)getpid()));
    assert_false(poll_set_has_terminal(&set, (uint32_t)getpid()));
    assert_int_equal(tcgetattr(terminal, &mode), 0);
    mode.c_lflag &= ~(tcflag_t)ICANON;
    assert_int_equal(tcsetattr(terminal, TCSANOW, &mode), 0);
    assert_true(poll_set_is_ready(&set, (uint32_t)getpid()));
    assert_true(poll_set_has_terminal(&set, (uint32_t)getpid()));
    set.words[0] = (uint64_t)master | 1ull << 32; /* as of ssh, whose output a program reads */
    assert_false(poll_set_has_terminal(&set, (uint32_t)getpid()));
    close(terminal);
    close(master);
}

/* Keys that were typed for a program which reads them from its terminal. */
static void keys_at_a_terminal_are_typed(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY), input = dup(STDIN_FILENO);
    struct termios mode;
    if (master < 0 || grantpt(master) || unlockpt(master))
        skip();
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && dup2(terminal, STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(tcgetattr(terminal, &mode), 0);
    mode.c_lflag &= ~(tcflag_t)ICANON;
    assert_int_equal(tcsetattr(terminal, TCSANOW, &mode), 0);
    bool before = process_has_typed((uint32_t)getpid());
    assert_int_equal(write(master, "k", 1), 1);
    bool after = process_has_typed((uint32_t)getpid());
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    else
        close(STDIN_FILENO);
    close(input);
    close(terminal);
    close(master);
    assert_false(before);
    assert_true(after);
}

static void what_nobody_took_is_untaken(void **state)
{
    (void)state;
    int ends[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct poll_set set = {.kind = POLL_SET_ARRAY, .count = 1};
    set.words[0] = (uint64_t)ends[0] | 1ull << 32;
    assert_false(poll_set_is_untaken(&set, (uint32_t)getpid()));
    assert_int_equal(write(ends[0], "k", 1), 1);
    assert_true(poll_set_is_untaken(&set, (uint32_t)getpid()));
    assert_true(process_has_untaken((uint32_t)getpid()));
    assert_int_equal(read(ends[1], &byte, 1), 1);
    assert_false(poll_set_is_untaken(&set, (uint32_t)getpid()));
    assert_false(process_has_untaken((uint32_t)getpid()));
    close(ends[0]);
    close(ends[1]);
}

/* A loop that polls `client`, a connection to a display or not. */
static void check_display_of_set(int client, bool is_display)
{
    struct poll_set set = {.kind = POLL_SET_ARRAY, .count = 1};
    set.words[0] = (uint64_t)client | 1ull << 32;
    assert_int_equal(poll_set_has_display(&set, (uint32_t)getpid()), is_display);
}

/* Returns a socket that listens at `name`, in no folder. */
static int listen_at(const char *name, struct sockaddr_un *ret, socklen_t *ret_length)
{
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    int bytes =
        snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "argus-%d/%s", (int)getpid(), name);
    *ret_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
    assert_int_equal(bind(server, (struct sockaddr *)ret, *ret_length), 0);
    assert_int_equal(listen(server, 1), 0);
    return server;
}

/* A server at the path of a display, and one at another path. */
static void who_is_connected_to_a_display_has_a_window(void **state)
{
    (void)state;
    const char *const names[] = {"other-1", "wayland-7"};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un address;
        socklen_t length;
        int server = listen_at(names[i], &address, &length);
        int client = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_false(process_has_window((uint32_t)getpid()));
        assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
        assert_int_equal(process_has_window((uint32_t)getpid()), i);
        check_display_of_set(client, i);
        close(client);
        close(server);
    }
}

/* What a display server sent, not what was sent to it, or what it sent to anybody else. */
static void what_a_client_did_not_read(void **state)
{
    (void)state;
    const char *const names[] = {"other-1", "wayland-7", ".X11-unix/X9"};
    for (int i = 0; i < 3; i++) {
        struct sockaddr_un address;
        socklen_t length;
        int server = listen_at(names[i], &address, &length), bus[2];
        int client = socket(AF_UNIX, SOCK_STREAM, 0);
        char byte;
        assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
        int accepted = accept(server, NULL, NULL);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, bus), 0);
        assert_int_equal(write(bus[0], "k", 1), 1);
        assert_int_equal(write(client, "k", 1), 1);
        assert_false(display_has_untaken((uint32_t)getpid()));
        assert_int_equal(write(accepted, "k", 1), 1);
        assert_int_equal(display_has_untaken((uint32_t)getpid()), i > 0);
        assert_int_equal(read(client, &byte, 1), 1);
        assert_false(display_has_untaken((uint32_t)getpid()));
        close(bus[0]);
        close(bus[1]);
        close(accepted);
        close(client);
        close(server);
    }
}

/* A process may have any number of descriptors; the display is among the first. */
static void many_sockets_are_not_all_examined(void **state)
{
    (void)state;
    struct rlimit limit;
    struct sockaddr_un address;
    socklen_t length;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max < 8192)
        skip();
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 8192;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int server = listen_at("wayland-7", &address, &length);
    int client = socket(AF_UNIX, SOCK_STREAM, 0), far = -1;
    assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
    bool is_near_found = process_has_window((uint32_t)getpid());
    for (int i = 0; i < 5000; i++)
        assert_true(dup(STDERR_FILENO) >= 0);
    far = fcntl(client, F_DUPFD, 5000);
    close(client);
    bool is_far_found = process_has_window((uint32_t)getpid());
    close(server);
    for (int fd = client; fd <= far; fd++)
        close(fd);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_true(is_near_found);
    assert_true(far >= 5000);
    assert_false(is_far_found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_that_cover),
        cmocka_unit_test(descriptors_of_one_set_only),
        cmocka_unit_test(what_lies_in_a_pipe_is_ready),
        cmocka_unit_test(a_line_typed_ahead_is_not_ready),
        cmocka_unit_test(keys_at_a_terminal_are_typed),
        cmocka_unit_test(what_nobody_took_is_untaken),
        cmocka_unit_test(who_is_connected_to_a_display_has_a_window),
        cmocka_unit_test(what_a_client_did_not_read),
        cmocka_unit_test(many_sockets_are_not_all_examined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
