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
        .start = {.mode = RECORDING_MEMORY,
                  .rate_hz = 99,
                  .ring_bytes = 512ull << 20,
                  .categories = CATEGORIES_ALL},
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
    request.verb = REQUEST_LAST + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
    request.verb = 0;
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
}

static void start_limits(void **state)
{
    (void)state;
    struct request request = good_start();
    request.start.ring_bytes = PROTOCOL_RING_MIN - 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.start.ring_bytes = PROTOCOL_RING_MAX + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.start.ring_bytes = PROTOCOL_RING_MAX;
    expect_request(&request, sizeof(request), -1);
    request.start.rate_hz = PROTOCOL_RATE_MAX + 1;
    expect_request(&request, sizeof(request), ARGUS_ERROR_USAGE);
    request.verb = REQUEST_STATUS; /* a command without a rate */
    expect_request(&request, sizeof(request), -1);
}

/* Changes one byte of a valid START request, at `place`, and returns the result of parsing it. */
static void expect_change(void *place, struct request *request, uint8_t value, int code)
{
    uint8_t *byte = place, before = *byte;
    *byte = value;
    expect_request(request, sizeof(*request), code);
    *byte = before;
}

static void start_choices(void **state)
{
    (void)state;
    struct request request = good_start();
    struct request_start *start = &request.start;
    expect_change(&start->mode, &request, 0, ARGUS_ERROR_FORMAT);
    int without_key = argus_snapshot_key_is_built() ? ARGUS_ERROR_FORMAT : -1;
    expect_change(&start->mode, &request, RECORDING_STREAM, without_key);
    start->key.key.bytes[31] = 1;
    expect_change(&start->mode, &request, RECORDING_STREAM, -1);
    expect_change(&start->mode, &request, RECORDING_RING + 1, ARGUS_ERROR_FORMAT);
    expect_change(&start->mode, &request, RECORDING_RING, ARGUS_ERROR_USAGE); /* a size of zero */
    expect_change(&start->backend, &request, BACKEND_KIND_COUNT, ARGUS_ERROR_FORMAT);
    expect_change((uint8_t *)&start->categories + 3, &request, 1, ARGUS_ERROR_FORMAT);
    expect_change(&start->categories, &request, 0xfe, ARGUS_ERROR_USAGE); /* without "sched" */
    expect_change(&start->hang_ms, &request, 1, ARGUS_ERROR_USAGE);
    expect_change(&start->hang_ms, &request, PROTOCOL_HANG_MIN_MS, -1);
    expect_change(&start->unwind_count, &request, PROTOCOL_UNWIND_MAX + 1, ARGUS_ERROR_USAGE);
    expect_change(&start->unwind_count, &request, 1, ARGUS_ERROR_USAGE); /* 0 bytes */
    start->unwind_bytes = PROTOCOL_UNWIND_LIMIT;
    expect_change(&start->unwind_count, &request, 1, -1);
    memset(start->unwind_names[15], 'x', sizeof(start->unwind_names[15]));
    expect_request(&request, sizeof(request), ARGUS_ERROR_FORMAT);
}

static void categories(void **state)
{
    (void)state;
    uint32_t bits = 0;
    assert_null(categories_parse("stacks,timers", &bits));
    assert_int_equal(bits, CATEGORY_BIT(CATEGORY_STACKS) | CATEGORY_BIT(CATEGORY_TIMERS));
    const char *const wrong[] = {"", "stack", "stacks,", ",stacks", "stacks timers"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct argus_error *error = categories_parse(wrong[i], &bits);
        assert_non_null(error);
        assert_int_equal(error->code, ARGUS_ERROR_USAGE);
        argus_error_destroy(error);
    }
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
        cmocka_unit_test(start_choices),
        cmocka_unit_test(categories),
        cmocka_unit_test(replies_end_with_nul),
        cmocka_unit_test(descriptors_travel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
