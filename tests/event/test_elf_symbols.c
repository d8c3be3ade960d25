/* Functions in an ELF file, by name. The memory in which the loader has mapped the same file shows
 * whether the offsets are right. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/binary/elf_file.h"
#include "event/binary/elf_symbols.h"

#define CODE_BYTES 16

static const char *library;

static bool find(const char *path, struct elf_wanted *wanted, size_t count)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    bool good = elf_symbols_find(fd, path, wanted, count);
    assert_int_equal(close(fd), 0); /* the descriptor is still open */
    return good;
}

/* Whether the file has at `offset` what the memory has at `address`. */
static void assert_same_code(uint64_t offset, const void *address)
{
    unsigned char code[CODE_BYTES];
    int fd = open(library, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, code, sizeof(code), (off_t)offset), sizeof(code));
    close(fd);
    assert_memory_equal(code, address, sizeof(code));
}

static void test_functions(void **state)
{
    (void)state;
    struct elf_wanted wanted[] = {
        {.name = "probed_function"},
        {.name = "probed_functions", .is_pointer = true, .data_offset = sizeof(void *)},
    };
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    assert_true(find(library, wanted, 2));
    assert_true(wanted[0].found && wanted[1].found);
    assert_same_code(wanted[0].file_offset, dlsym(loaded, "probed_function"));
    assert_same_code(wanted[1].file_offset, ((void **)dlsym(loaded, "probed_functions"))[1]);
    assert_int_not_equal(wanted[0].file_offset, wanted[1].file_offset);
    dlclose(loaded);
}

static void test_what_is_no_function(void **state)
{
    (void)state;
    struct elf_wanted wanted[] = {
        {.name = "probed_functio"},                       /* the beginning of a name */
        {.name = "probed_number"},                        /* data */
        {.name = "probed_functions", .is_pointer = true}, /* a null pointer */
        {.name = "probed_number", .is_pointer = true, .data_offset = 1 << 19},
        {.name = "probed_function", .is_pointer = true}, /* code is not a table of pointers */
        {.name = "printf"},                              /* a symbol of another library */
    };
    size_t count = sizeof(wanted) / sizeof(*wanted);
    assert_true(find(library, wanted, count));
    for (size_t i = 0; i < count; i++)
        if (wanted[i].found)
            fail_msg("%s was found", wanted[i].name);
}

static void test_no_library(void **state)
{
    (void)state;
    struct elf_wanted wanted = {.name = "main"};
    assert_false(find("/proc/self/maps", &wanted, 1));
    assert_false(find("/etc/passwd", &wanted, 1));
    assert_false(wanted.found);
}

/* Opening a FIFO wakes its writer, and opening a device can start something: neither is opened, but
 * looked at, of which inotify(7) reports nothing. */
static void test_only_files_are_opened(void **state)
{
    (void)state;
    char folder[] = "/tmp/argus-test-XXXXXX", fifo[64], event[512];
    assert_non_null(mkdtemp(folder));
    snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(notify >= 0);
    assert_true(inotify_add_watch(notify, fifo, IN_OPEN) >= 0);
    assert_int_equal(elf_open_regular(fifo, 0), -1);
    assert_int_equal(read(notify, event, sizeof(event)), -1);
    /* not maps, of which qemu-user makes a file of its own */
    assert_int_equal(elf_open_regular("/proc/self/status", 0), -1);
    assert_int_equal(elf_open_regular(folder, 0), -1);
    int fd = elf_open_regular(library, 0);
    assert_true(fd >= 0);
    close(fd);
    close(notify);
    unlink(fifo);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_what_is_no_function),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_only_files_are_opened),
    };
    if (argc != 2)
        return 2;
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
