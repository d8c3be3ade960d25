/* Which file systems another program or machine serves, from the text of a mountinfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/linux/served_files.h"

static char mounts[] = "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
                       "30 21 0:50 / /mnt/a\\040b rw - fuse.sshfs host: rw\n"
                       "31 21 0:51 / /tmp rw shared:2 master:3 - tmpfs tmpfs rw\n"
                       "32 21 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw\n"
                       "33 21 0:52 / /home rw - nfs4 server:/home rw\n"
                       "34 21 0:53 / /x rw - fusectl fusectl rw\n"
                       "no mount\n"
                       "35 21 0:54 / /y rw -\n";

static void test_types(void **state)
{
    static const struct {
        uint32_t major, minor;
        bool served;
    } rows[] = {{254, 0, false}, {0, 50, true}, {0, 51, false},
                {8, 17, true},   {0, 52, true}, {0, 53, false}};
    struct served_files served = {0};
    (void)state;
    FILE *file = fmemopen(mounts, strlen(mounts), "r");
    assert_true(served_files_add(&served, file));
    fclose(file);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(served_files_has(&served, "self", rows[i].major, rows[i].minor),
                         rows[i].served);
    idmap_deinit(&served.by_device);
}

/* A file system that is mounted nowhere: one without a disk may be anything. */
static void test_unknown(void **state)
{
    struct served_files served = {0};
    (void)state;
    assert_true(served_files_has(&served, "self", 0, 1000000));
    assert_false(served_files_has(&served, "self", 4000, 1));
    assert_true(served_files_has(&served, "no process", 0, 1000001));
    idmap_deinit(&served.by_device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
