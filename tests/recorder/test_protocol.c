/* What the recorder accepts over its socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/protocol.h"

static struct request good_start(void)
{
    return (struct request){
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .verb = REQUEST_START,
        .rate_hz = 99,
        .ring_bytes = 512ull << 20,
    };
}

static void expect_request(const struct request *request, size_t length, int code)
{
    struct request parsed;
    struct argus_error *error = request_parse(request, length, &parsed);
    if (code < 0) {
        assert_null(error);
        assert_memory_equal(&parsed, request, sizeof(parsed));
        return;
    }
    assert_non_null(error);
    assert_int_equal(error->code, code);
    argus_error_destroy(error);
}

static void requests(void **state)
{
    (void)state;
    struct request request = good_start();
    expect_request(&request, sizeof(request), -1);
    expect_request(&request, sizeof(request) - 1, ARGUS_ERROR_FORMAT);
    expect_request(&request, sizeof(request) + 1, ARGUS_ERROR_FORMAT);
    expect_request(&request, 0, ARGUS_ERROR_FORMAT);

    request.magic++;
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
    request = good_start();
    request.version++;
    expect_request(&request, sizeof(request), ARGUS_ERROR_VERSION);
    request = good_start();
    request.verb = REQUEST_STATUS + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
    request.verb = 0;
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
}

static void start_limits(void **state)
{
    (void)state;
    struct request request = good_start();
    request.ring_bytes = PROTOCOL_RING_MIN - 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.ring_bytes = PROTOCOL_RING_MAX + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.ring_bytes = PROTOCOL_RING_MAX;
    expect_request(&request, sizeof(request), -1);
    request.rate_hz = PROTOCOL_RATE_MAX + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.verb = REQUEST_STATUS; /* which has no rate */
    expect_request(&request, sizeof(request), -1);
}

static void replies_end_with_nul(void **state)
{
    (void)state;
    struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION}, parsed;
    memset(reply.text, 'x', sizeof(reply.text));
    assert_null(reply_parse(&reply, sizeof(reply), &parsed));
    assert_int_equal(strlen(parsed.text), sizeof(parsed.text) - 1);
    reply.error = 1000;
    struct argus_error *error = reply_parse(&reply, sizeof(reply), &parsed);
    assert_non_null(error);
    argus_error_destroy(error);
}

static ino_t inode_of(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return status.st_ino;
}

static void descriptors_travel(void **state)
{
    (void)state;
    int pair[2], file = open("/dev/null", O_WRONLY), got = -1;
    struct request request = good_start();
    char bytes[sizeof(request) + 1];
    size_t length;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_null(message_send(pair[0], &request, sizeof(request), file));
    assert_null(message_receive(pair[1], bytes, sizeof(bytes), &length, &got));
    assert_int_equal(length, sizeof(request));
    assert_true(got >= 0);
    assert_int_equal(inode_of(got), inode_of(file));
    assert_true(fcntl(got, F_GETFD) & FD_CLOEXEC);
    close(got);

    assert_null(message_send(pair[0], &request, sizeof(request), -1));
    assert_null(message_receive(pair[1], bytes, sizeof(bytes), &length, &got));
    assert_int_equal(got, -1);
    close(pair[0]);
    assert_null(message_receive(pair[1], bytes, sizeof(bytes), &length, &got));
    assert_int_equal(length, 0);
    close(pair[1]);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),
        cmocka_unit_test(start_limits),
        cmocka_unit_test(replies_end_with_nul),
        cmocka_unit_test(descriptors_travel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
