/* The memory that processes share, as this program shares some with its child. */
#include <poll.h>
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
#include "server/clocks.h"

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

/* The number of records of these children's mapping at `start`, each within that time. */
static size_t count_of(const record_list *found, const pid_t *children, const void *start,
                       uint64_t from_ns, uint64_t to_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < found->length; i++)
        count += found->data[i].timestamp >= from_ns && found->data[i].timestamp <= to_ns &&
                 found->data[i].arg[0] == ((uintptr_t)start | ARGUS_SHARED_WRITABLE) &&
                 (found->data[i].tid == (uint64_t)children[0] ||
                  found->data[i].tid == (uint64_t)children[1]);
    return count;
}

/* Takes what a look has found that is due; without one, returns at once. */
static void look(struct shared_watch *watch, record_list *found)
{
    static uint64_t far_ns; /* each look is late enough */
    far_ns += 1000000000000;
    assert_true(shared_watch_take(watch, far_ns, found));
    while (watch->is_looking) {
        poll(NULL, 0, 1);
        assert_true(shared_watch_take(watch, far_ns, found));
    }
}

static void *map_shared(size_t bytes)
{
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    return shared;
}

static void see_mmap(struct shared_watch *watch, pid_t tid)
{
    const struct argus_record mapped = {.tid = (uint64_t)tid,
                                        .arg = {0, 12288, PROT_READ, MAP_SHARED},
                                        .debugid = ARGUS_ID_SYSCALL(SYS_mmap) | ARGUS_FUNC_START};
    shared_watch_see(watch, &mapped, 1);
}

static void see_new(struct shared_watch *watch, pid_t parent, pid_t child)
{
    const struct argus_record made = {
        .tid = (uint64_t)parent,
        .arg = {(uint64_t)child, (uint64_t)child, 1, (uint64_t)parent},
        .debugid = ARGUS_ID_NEW_THREAD};
    shared_watch_see(watch, &made, 1);
}

/* A process that has mapped memory (the recorder, as which this one counts, is left out), and its children. */
struct family {
    pid_t parent, children[2];
    void *shared;
};

static struct family begin_family(void)
{
    struct family family = {.shared = map_shared(12288)};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    family.parent = fork();
    if (family.parent == 0) {
        for (int i = 0; i < 2; i++) {
            family.children[i] = fork();
            if (family.children[i] == 0) {
                pause();
                _exit(0);
            }
        }
        if (write(ends[1], family.children, sizeof(family.children)) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_true(family.parent > 0);
    assert_int_equal(read(ends[0], family.children, sizeof(family.children)),
                     sizeof(family.children));
    close(ends[0]);
    close(ends[1]);
    return family;
}

static void end_family(const struct family *family)
{
    for (int i = 0; i < 2; i++)
        kill(family->children[i], SIGKILL);
    end_child(family->parent);
    munmap(family->shared, 12288);
}

/* They share memory only after the recording has begun, and end before it does. */
static void test_while_recording(void **state)
{
    record_list found = {0};
    struct shared_watch watch = {0};
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    look(&watch, &found);
    assert_int_equal(found.length, 0); /* nothing was read: a recording in memory */
    shared_watch_see(&watch, NULL, 0);
    look(&watch, &found);
    uint64_t from_ns = clock_ns(TRACE_CLOCK);
    const struct family family = begin_family();
    look(&watch, &found);
    size_t untold = count_of(&found, family.children, family.shared, 0, UINT64_MAX);
    see_new(&watch, getpid(), family.parent); /* of which nothing is known: not looked at */
    size_t not_due = watch.due.length;
    see_mmap(&watch, family.parent);
    for (int i = 0; i < 2; i++)
        see_new(&watch, family.parent, family.children[i]);
    see_mmap(&watch, family.parent); /* once is enough */
    size_t due = watch.due.length;
    look(&watch, &found);
    see_mmap(&watch, family.children[0]); /* and not once more */
    look(&watch, &found);
    end_family(&family);
    size_t told = count_of(&found, family.children, family.shared, from_ns, clock_ns(TRACE_CLOCK));
    vec_deinit(&found);
    shared_watch_deinit(&watch);
    assert_int_equal(untold, 0);
    assert_int_equal(not_due, 0);
    assert_int_equal(due, 3);
    assert_int_equal(told, 2);
}

/* The children of a process that mapped memory before the recording began. */
static void test_children_of_known(void **state)
{
    record_list found = {0};
    struct shared_watch watch = {0};
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    const struct family family = begin_family();
    shared_watch_see(&watch, NULL, 0);
    look(&watch, &found);
    see_new(&watch, family.parent, family.children[0]);
    size_t due = watch.due.length;
    end_family(&family);
    vec_deinit(&found);
    shared_watch_deinit(&watch);
    assert_int_equal(due, 1);
}

/* A process that has ended shares nothing with one that is looked at later. */
static void test_ended(void **state)
{
    record_list found = {0};
    struct shared_watch watch = {0};
    pid_t children[2];
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    shared_watch_see(&watch, NULL, 0);
    look(&watch, &found);
    void *shared = map_shared(12288);
    for (int i = 0; i < 2; i++) {
        children[i] = begin_child();
        see_mmap(&watch, children[i]);
        look(&watch, &found);
        end_child(children[i]);
    }
    size_t told = count_of(&found, children, shared, 0, UINT64_MAX);
    munmap(shared, 12288);
    vec_deinit(&found);
    shared_watch_deinit(&watch);
    assert_int_equal(told, 0);
}

/* Too many mappings of one process, and too many threads: both are counted. */
static void test_too_many(void **state)
{
    enum { MAPPINGS = 1100, DUE = 1024 };
    record_list found = {0};
    struct shared_watch watch = {0};
    void *shared[MAPPINGS];
    (void)state;
    if (!pid_namespace_fits_proc())
        skip();
    shared_watch_see(&watch, NULL, 0);
    look(&watch, &found);
    uint64_t missed = shared_watch_missed(&watch);
    for (int i = 0; i < MAPPINGS; i++)
        shared[i] = map_shared(4096);
    pid_t child = begin_child();
    see_mmap(&watch, child);
    look(&watch, &found);
    end_child(child);
    for (int i = 0; i < MAPPINGS; i++)
        munmap(shared[i], 4096);
    bool counted = shared_watch_missed(&watch) > missed;
    missed = shared_watch_missed(&watch);
    for (int i = 0; i < DUE + 3; i++)
        see_mmap(&watch, 0x40000000 + i); /* no such threads */
    uint64_t too_many = shared_watch_missed(&watch) - missed;
    look(&watch, &found);
    vec_deinit(&found);
    shared_watch_deinit(&watch);
    assert_true(counted);
    assert_int_equal(too_many, 3);
}

/* The owner does not wait for a look. */
static void test_gone_meanwhile(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        record_list found = {0};
        struct shared_watch watch = {0};
        shared_watch_see(&watch, NULL, 0);
        assert_true(shared_watch_take(&watch, 1000000000000, &found));
        poll(NULL, 0, i / 4);
        shared_watch_deinit(&watch);
        vec_deinit(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_selected),
                                       cmocka_unit_test(test_children),
                                       cmocka_unit_test(test_while_recording),
                                       cmocka_unit_test(test_children_of_known),
                                       cmocka_unit_test(test_ended),
                                       cmocka_unit_test(test_too_many),
                                       cmocka_unit_test(test_gone_meanwhile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
