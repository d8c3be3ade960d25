/* Lines of /proc/locks, valid and invalid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "linux/held_locks.h"

#define HELD      ARGUS_FILE_LOCK_HELD
#define EXCLUSIVE ARGUS_FILE_LOCK_EXCLUSIVE

static const struct {
    const char *line;
    uint64_t tid, inode, first, last;
    uint32_t device, what, kind, flags;
} good[] = {
    {"1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF\n", 1234, 5678, 0, UINT64_MAX, 8 << 20 | 1,
     ARGUS_FILE_LOCK_GOT, ARGUS_FILE_LOCK_FLOCK, HELD | EXCLUSIVE},
    {"2: POSIX  ADVISORY  READ  7 fe:0f:99 1073741824 1073741825\n", 7, 99, 1073741824, 1073741825,
     0xfe << 20 | 15, ARGUS_FILE_LOCK_GOT, ARGUS_FILE_LOCK_PROCESS, HELD},
    {"3: OFDLCK ADVISORY  WRITE -1 00:2b:3 5 14\n", 0, 3, 5, 14, 0x2b, ARGUS_FILE_LOCK_GOT,
     ARGUS_FILE_LOCK_OPEN, HELD | EXCLUSIVE},
    /* a waiter, and a waiter that waits for the first one */
    {"1: -> FLOCK  ADVISORY  WRITE 1240 08:01:5678 0 EOF\n", 1240, 5678, 0, UINT64_MAX, 8 << 20 | 1,
     ARGUS_FILE_LOCK_WAITS, ARGUS_FILE_LOCK_FLOCK, HELD | EXCLUSIVE},
    {"1:  -> POSIX  MANDATORY READ 1241 08:01:5678 0 EOF", 1241, 5678, 0, UINT64_MAX, 8 << 20 | 1,
     ARGUS_FILE_LOCK_WAITS, ARGUS_FILE_LOCK_PROCESS, HELD},
    /* held by a process of another pid namespace, read in a namespace that sees the lock but not
     * the process */
    {"4: POSIX  ADVISORY  WRITE 0 08:01:1 0 0", 0, 1, 0, 0, 8 << 20 | 1, ARGUS_FILE_LOCK_GOT,
     ARGUS_FILE_LOCK_PROCESS, HELD | EXCLUSIVE},
    {"5: LEASE  ACTIVE    READ  12 08:01:5678 0 EOF", 12, 5678, 0, UINT64_MAX, 8 << 20 | 1,
     ARGUS_FILE_LOCK_GOT, ARGUS_FILE_LOCK_LEASE, HELD | EXCLUSIVE},
    {"5: LEASE  BREAKING  UNLCK 12 08:01:5678 0 EOF", 12, 5678, 0, UINT64_MAX, 8 << 20 | 1,
     ARGUS_FILE_LOCK_GOT, ARGUS_FILE_LOCK_LEASE, HELD | EXCLUSIVE},
    {"5: -> LEASE  BREAKER   WRITE 13 <none>:0 0 EOF", 13, 0, 0, UINT64_MAX, 0,
     ARGUS_FILE_LOCK_WAITS, ARGUS_FILE_LOCK_LEASE, HELD | EXCLUSIVE},
    {"4: POSIX  ADVISORY  WRITE 99999999999 08:01:1 0 0", 0, 1, 0, 0, 8 << 20 | 1,
     ARGUS_FILE_LOCK_GOT, ARGUS_FILE_LOCK_PROCESS, HELD | EXCLUSIVE},
};

static const char *const bad[] = {
    "",
    "\n",
    "1",
    "1:",
    "1: ->",
    "1: -> -> FLOCK  ADVISORY  WRITE 1 08:01:1 0 EOF",
    "1: LEASE  ACTIVE    READ  12 <none>:0 0 EOF",
    "1: -> FLOCK  ADVISORY  WRITE 12 <none>:0 0 EOF",
    "1: DELEG  ACTIVE    READ  12 08:01:5678 0 EOF",
    "1: ACCESS ADVISORY  NONE 12 08:01:5678 0 EOF",
    "1: FLOCK  ADVISORY  UNLCK 12 08:01:5678 0 EOF",
    "1: FLOCK  ADVISORY  WRITE 12 <none>:0 0 EOF",
    "1: FLOCK  ADVISORY  WRITE 12 08:01:5678 0",
    "1: FLOCK  ADVISORY  WRITE 12 08:01:5678 x EOF",
    "1: FLOCK  ADVISORY  WRITE 12 08:01:5678 0 1x",
    "1: FLOCK  ADVISORY  WRITE 12 1000:01:5678 0 EOF",
    "1: FLOCK  ADVISORY  WRITE 12 08:100000:5678 0 EOF",
    "1: FLOCKFLOCKFLOCKFLOCK ADVISORY WRITE 12 08:01:5678 0 EOF",
    "FLOCK  ADVISORY  WRITE 12 08 01 5678 0 EOF",
};

static void test_good_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct argus_record record;
        assert_true(held_locks_parse(good[i].line, &record));
        assert_int_equal(record.debugid, ARGUS_ID_FILE_LOCK);
        assert_int_equal(record.tid, good[i].tid);
        assert_int_equal(record.arg[0], good[i].inode);
        assert_int_equal(record.arg[2], good[i].first);
        assert_int_equal(record.arg[3], good[i].last);
        assert_int_equal(ARGUS_FILE_LOCK_DEVICE(record.arg[1]), good[i].device);
        assert_int_equal(ARGUS_FILE_LOCK_WHAT(record.arg[1]), good[i].what);
        assert_int_equal(ARGUS_FILE_LOCK_KIND(record.arg[1]), good[i].kind);
        assert_int_equal(ARGUS_FILE_LOCK_FLAGS(record.arg[1]), good[i].flags);
    }
}

static void test_other_lines(void **state)
{
    (void)state;
    struct argus_record record;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(held_locks_parse(bad[i], &record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),
        cmocka_unit_test(test_other_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
