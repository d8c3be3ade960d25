/* What a client does with the answers of the recorder, which is simulated by another process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

// NOLINTNEXTLINE(bugprone-suspicious-include): to make a client of a socket pair
#include "recorder/client/client.c"

/* Answers `count` requests: the first `busy` ones with BUSY. Ends with the number of requests that
 * came with a descriptor. */
static void serve(int fd, int busy, int count)
{
    int with_fd = 0;
    for (int i = 0; i < count; i++) {
        struct request request;
        struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION};
        size_t length = 0;
        int got = -1;
        argus_error_destroy(message_receive(fd, &request, sizeof(request), &length, &got));
        reply.verb = request.verb;
        reply.error = i < busy ? 1 + ARGUS_ERROR_BUSY : 0;
        reply.records = 7;
        with_fd += length == sizeof(request) && request.verb == REQUEST_SNAPSHOT && got >= 0;
        close(got);
        argus_error_destroy(message_send(fd, &reply, sizeof(reply), -1));
    }
    _exit(with_fd);
}

/* Takes a snapshot from a recorder that is busy so often. */
static struct argus_error *snapshot(int busy, int count, unsigned patience, int *ret_asked)
{
    int ends[2], status = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        serve(ends[1], busy, count);
    close(ends[1]);
    struct recorder_client client = {.fd = ends[0]};
    struct recorder_status got = {0};
    struct argus_error *error = recorder_snapshot(&client, STDOUT_FILENO, patience, &got);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    *ret_asked = WEXITSTATUS(status);
    assert_int_equal(got.records, error ? 0 : 7);
    return error;
}

static void a_snapshot_is_asked_for_again(void **state)
{
    (void)state;
    int asked;
    assert_null(snapshot(2, 3, 3 * ASK_AGAIN_MS, &asked));
    assert_int_equal(asked, 3);
}

static void its_patience_ends(void **state)
{
    (void)state;
    int asked;
    struct argus_error *error = snapshot(2, 2, ASK_AGAIN_MS, &asked);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_BUSY);
    assert_int_equal(asked, 2);
    argus_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_asked_for_again),
        cmocka_unit_test(its_patience_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
