/* The server answers clients while it writes a snapshot for another one, and keeps their
 * connections. It runs without root, over a backend with invented records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fake_backend.h"
#include "recorder/protocol.h"
#include "recorder/server/requests.h"
#include "recorder/server/server.h"

/* Tests must not run with real-time priority, even as root. */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameter)
{
    (void)pid, (void)policy, (void)parameter;
    return 0;
}

static int connect_client(struct server *server)
{
    int ends[2];
    const struct peer who = {.uid = 0, .pid = getpid()};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
                     0);
    server_adopt(server, ends[1], &who);
    return ends[0];
}

static void ask(int client, uint16_t verb, int fd)
{
    const struct request request = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .verb = verb,
        .start = {.mode = RECORDING_MEMORY,
                  .rate_hz = 99,
                  .ring_bytes = PROTOCOL_RING_MIN,
                  .categories = CATEGORIES_ALL},
    };
    assert_null(message_send(client, &request, sizeof(request), fd));
}

/* A reply without an error. */
static void expect_reply(int client, uint16_t verb)
{
    struct reply reply;
    assert_int_equal(recv(client, &reply, sizeof(reply), MSG_DONTWAIT), sizeof(reply));
    assert_int_equal(reply.verb, verb);
    assert_int_equal(reply.error, 0);
}

static void expect_connected(int client)
{
    char byte;
    assert_int_equal(recv(client, &byte, sizeof(byte), MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

/* Both requests are there when the turn begins, so the second one is answered while the first is
 * being handled, and is not there any more after that. */
static void test_answered_during_a_snapshot(void **state)
{
    (void)state;
    struct server *server;
    assert_null(server_create_unlisted(0, &server));
    int first = connect_client(server), second = connect_client(server);
    ask(first, REQUEST_START, -1);
    assert_true(server_turn(server, 0));
    expect_reply(first, REQUEST_START);
    for (int times = 0; times < 5; times++) {
        int file = memfd_create("snapshot", MFD_CLOEXEC);
        ask(first, REQUEST_SNAPSHOT, file);
        ask(second, REQUEST_STATUS, -1);
        assert_true(server_turn(server, 0));
        close(file);
        expect_reply(first, REQUEST_SNAPSHOT);
        expect_reply(second, REQUEST_STATUS);
        expect_connected(first);
        expect_connected(second);
    }
    server_destroy(server);
    close(first);
    close(second);
}

/* The connection is closed then, but whoever asks next finds the reason. */
static void test_told_of_a_signal(void **state)
{
    (void)state;
    struct server *server;
    struct reply reply;
    assert_null(server_create_unlisted(0, &server));
    int client = connect_client(server);
    ask(client, REQUEST_START, -1);
    assert_true(server_turn(server, 0));
    expect_reply(client, REQUEST_START);
    server->signal = 15;
    assert_false(server_turn(server, 0));
    server_destroy(server);
    assert_int_equal(recv(client, &reply, sizeof(reply), MSG_DONTWAIT), sizeof(reply));
    assert_int_equal(reply.error, 1 + ARGUS_ERROR_IO);
    assert_non_null(strstr(reply.text, "signal 15"));
    close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answered_during_a_snapshot),
        cmocka_unit_test(test_told_of_a_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
