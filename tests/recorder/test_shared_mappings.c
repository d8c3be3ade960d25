/* The memory that processes share, as this program shares some with its child. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "linux/pid_namespace.h"
#include "linux/shared_mappings.h"
#include "linux/shared_watch.h"

static void test_lines(void **state)
{
    struct argus_record record;
    (void)state;
    assert_true(shared_mappings_parse(
        "7f0000001000-7f0000004000 rw-s 00002000 00:1a 77                 /dev/shm/a b", &record));
    assert_int_equal(record.debugid, ARGUS_ID_SHARED_MEMORY);
    assert_int_equal(record.arg[0], 0x7f0000001000 | ARGUS_SHARED_WRITABLE);
    assert_int_equal(record.arg[1], 77);
    assert_int_equal(record.arg[2], 0x2000);
    assert_int_equal(record.arg[3], 3ull << 32 | 0x1a);
    assert_true(shared_mappings_parse("1000-2000 r--s 0 08:02 5 /a", &record));
    assert_int_equal(record.arg[0], 0x1000);
    assert_int_equal(record.arg[3], 1ull << 32 | 8 << 20 | 2);
    assert_false(shared_mappings_parse("1000-2000 rw-p 0 08:02 5 /a", &record));
    assert_false(shared_mappings_parse("1000-2000 rw-s 0 00:00 0", &record));
    assert_false(shared_mappings_parse("1000", &record));
}

static struct argus_record mapping(uint64_t tid, uint64_t inode, uint64_t start)
{
    return (struct argus_record){
        .tid = tid, .debugid = ARGUS_ID_SHARED_MEMORY, .arg = {start, inode, 0, 1ull << 32 | 1}};
}

static void test_selected(void **state)
{
    record_list list = {0};
    (void)state;
    assert_true(vec_push(&list, mapping(9, 9, 0)));      /* not one of the new ones */
    assert_true(vec_push(&list, mapping(2, 7, 0x1001))); /* shared */
    assert_true(vec_push(&list, mapping(2, 8, 0x2001))); /* twice in one process */
    assert_true(vec_push(&list, mapping(2, 8, 0x3001)));
    assert_true(vec_push(&list, mapping(1, 6, 0x4000))); /* nobody writes */
    assert_true(vec_push(&list, mapping(2, 6, 0x4000)));
    assert_true(vec_push(&list, mapping(1, 7, 0x5000)));
    shared_mappings_select(&list, 1);
    assert_int_equal(list.length, 3);
    assert_int_equal(list.data[0].tid, 9);
    assert_int_equal(list.data[1].tid, 1);
    assert_int_equal(list.data[1].arg[1], 7);
    assert_int_equal(list.data[2].tid, 2);
    assert_int_equal(list.data[2].arg[1], 7);
    vec_deinit(&list);
}

/* The size of the mapping at `start`, and its inode; 0: it is not among the records. */
static uint64_t found_bytes(const record_list *found, uint64_t tid, const void *start,
                            uint64_t *ret_inode)
{
    for (size_t i = 0; i < found->length; i++)
        if (found->data[i].tid == tid && found->data[i].timestamp == 7 &&
            found->data[i].arg[0] == ((uintptr_t)start | ARGUS_SHARED_WRITABLE)) {
            *ret_inode = found->data[i].arg[1];
            return (found->data[i].arg[3] >> 32) * ARGUS_SHARED_PAGE;
        }
    return 0;
}

/* The recorder itself does not count, so two children are needed. */
static void test_children(void **state)
{
    pid_t children[2];
    record_list found = {0};
    uint64_t inodes[2] = {0, 1};
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    void *shared = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED && own != MAP_FAILED);
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pause();
            _exit(0);
        }
        assert_true(children[i] > 0);
    }
    bool done = shared_mappings_read(7, &found);
    for (int i = 0; i < 2; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    assert_true(done);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(found_bytes(&found, (uint64_t)children[i], shared, &inodes[i]), 12288);
        assert_int_equal(found_bytes(&found, (uint64_t)children[i], own, &(uint64_t){0}), 0);
    }
    assert_int_equal(inodes[0], inodes[1]);
    assert_int_equal(found_bytes(&found, (uint64_t)getpid(), shared, &(uint64_t){0}), 0);
    munmap(shared, 12288);
    munmap(own, 4096);
    vec_deinit(&found);
}

static pid_t begin_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static size_t count_of(const record_list *found, const pid_t *children, const void *start,
                       uint64_t time_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < found->length; i++)
        count += found->data[i].timestamp == time_ns &&
                 found->data[i].arg[0] == ((uintptr_t)start | ARGUS_SHARED_WRITABLE) &&
                 (found->data[i].tid == (uint64_t)children[0] ||
                  found->data[i].tid == (uint64_t)children[1]);
    return count;
}

/* Two children share memory only after the recording has begun, and end before it does. */
static void test_while_recording(void **state)
{
    enum { SECOND = 1000000000 };
    pid_t children[2];
    record_list found = {0};
    struct shared_watch watch = {0};
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    assert_true(shared_watch_take(&watch, 1ull * SECOND, &found));
    assert_int_equal(found.length, 0); /* nothing was read: a recording in memory */
    shared_watch_see(&watch, NULL, 0);
    assert_true(shared_watch_take(&watch, 2ull * SECOND, &found));
    void *shared = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        children[i] = begin_child();
    assert_true(shared_watch_take(&watch, 3ull * SECOND, &found));
    for (int i = 0; i < 2; i++) {
        const struct argus_record mapped = {.tid = (uint64_t)children[i],
                                            .arg = {0, 12288, PROT_READ, MAP_SHARED},
                                            .debugid =
                                                ARGUS_ID_SYSCALL(SYS_mmap) | ARGUS_FUNC_START};
        shared_watch_see(&watch, &mapped, 1);
    }
    assert_int_equal(count_of(&found, children, shared, 3ull * SECOND), 0);
    assert_true(shared_watch_take(&watch, 3ull * SECOND + 1, &found)); /* too soon */
    assert_true(shared_watch_take(&watch, 4ull * SECOND, &found));
    assert_true(shared_watch_take(&watch, 5ull * SECOND, &found)); /* and not once more */
    for (int i = 0; i < 2; i++)
        end_child(children[i]);
    munmap(shared, 12288);
    size_t in_time = count_of(&found, children, shared, 4ull * SECOND) +
                     count_of(&found, children, shared, 3ull * SECOND + 1);
    vec_deinit(&found);
    shared_watch_deinit(&watch);
    assert_int_equal(in_time, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines), cmocka_unit_test(test_selected),
        cmocka_unit_test(test_children), cmocka_unit_test(test_while_recording)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
