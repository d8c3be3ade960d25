/* Which probes the recorder accepts: the requirements for a request and for its descriptor. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/record.h"
#include "recorder/probe_check.h"
#include "recorder/server/probe_list.h"

static struct request_probe good_request(uint32_t number)
{
    return (struct request_probe){
        .number = number,
        .offset = 16,
        .spec = {.shape = ARGUS_PROBE_BEGIN, .key = {.base = 1, .steps = 1, .bytes = 8}},
        .library = "/lib/a.so",
        .symbol = "f",
        .label = "g",
    };
}

static void assert_refused(struct argus_error *error, const char *piece)
{
    assert_non_null(error);
    if (!strstr(error->message, piece))
        fail_msg("\"%s\" has no \"%s\"", error->message, piece);
    argus_error_destroy(error);
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void test_requests(void **state)
{
    (void)state;
    struct request_probe request = good_request(PROBE_LIMIT - 1);
    assert_null(probe_request_check(&request));
    request.number = PROBE_LIMIT;
    assert_refused(probe_request_check(&request), "more than");
    request = good_request(0);
    memset(request.label, 'x', sizeof(request.label));
    assert_refused(probe_request_check(&request), "is not terminated");

    static const struct probe_spec wrong[] = {
        {.shape = 0},
        {.shape = ARGUS_PROBE_SHAPES},
        {.shape = ARGUS_PROBE_FLAG_WRITE},
        {.shape = ARGUS_PROBE_UI, .flags = PROBE_FLAGS + 1},
        {.shape = ARGUS_PROBE_UI, .kind_count = PROBE_KINDS + 1},
        {.shape = ARGUS_PROBE_UI, .kinds[PROBE_KINDS - 1] = {.kind = ARGUS_UI_EVENTS}},
        {.shape = ARGUS_PROBE_UI, .key = {.base = PROBE_BASES, .bytes = 8}},
        {.shape = ARGUS_PROBE_UI, .type = {.base = 1, .steps = PROBE_STEPS + 1, .bytes = 8}},
        {.shape = ARGUS_PROBE_UI, .other = {.base = 1, .bytes = 3}},
        {.shape = ARGUS_PROBE_UI, .function = {.base = 1}},
        {.shape = ARGUS_PROBE_UI, .key = {.base = 1, .bytes = 8, .is_signed = 2}},
        {.shape = ARGUS_PROBE_UI, .key = {.base = 1, .bytes = 8, .offsets = {0, 0, 1 << 30}}},
        {.shape = ARGUS_PROBE_UI, .when = {.compare = PROBE_COMPARE_ATLEAST + 1}},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        request = good_request(0);
        request.spec = wrong[i];
        assert_refused(probe_request_check(&request), "is invalid");
    }
}

/* Refused, but the descriptor is closed. */
static void assert_fd_refused(struct probe_list *list, int fd, uint64_t offset, const char *piece)
{
    struct request_probe request = good_request(100);
    request.offset = offset;
    assert_true(fd >= 0);
    assert_refused(probe_list_add(list, &request, fd), piece);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_descriptors(void **state)
{
    (void)state;
    struct probe_list list = {0};
    size_t before = count_descriptors();
    char name[] = "/tmp/argus-probe-XXXXXX";
    int ends[2] = {-1, -1}, made = mkstemp(name);
    assert_true(made >= 0 && pipe(ends) == 0);
    assert_int_equal(write(made, "0123456789abcdef0123", 20), 20);
    close(made);
    assert_fd_refused(&list, open(name, O_WRONLY), 0, "open for reading");
    assert_fd_refused(&list, open(name, O_PATH), 0, "open for reading");
    assert_fd_refused(&list, open(name, O_RDONLY), 20, "beyond the end");
    assert_fd_refused(&list, open("/tmp", O_RDONLY), 0, "regular file");
    assert_fd_refused(&list, open("/dev/null", O_RDONLY), 0, "regular file");
    assert_fd_refused(&list, ends[0], 0, "regular file");
    close(ends[1]);

    struct request_probe request = good_request(1);
    assert_null(probe_list_add(&list, &request, open(name, O_RDONLY)));
    assert_refused(probe_list_add(&list, &request, open(name, O_RDONLY)), "probe 1 exists already");
    request.number = 2;
    assert_null(probe_list_add(&list, &request, open(name, O_RDONLY)));
    assert_int_equal(list.probes.length, 2);
    assert_int_equal(list.files.length, 1); /* one file, one descriptor */
    assert_int_equal(count_descriptors(), before + 1);
    probe_list_close_files(&list);
    assert_int_equal(count_descriptors(), before);
    probe_list_deinit(&list);
    unlink(name);
}

static void test_remarks_are_limited(void **state)
{
    (void)state;
    struct probe_list list = {0};
    struct argus_error *error = NULL;
    size_t taken = 0;
    for (; !error && taken < 10000; taken++)
        error = probe_list_add_absent(&list, "not there");
    assert_true(taken < 1000);
    argus_error_destroy(error);
    probe_list_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_remarks_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
