/* What a process that has confined itself can and cannot do. Each case runs in a child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitizer.h"
#include "recorder/platform.h"

/* True if `can` succeeds in a process of this stage. */
static bool can_do(enum platform_stage stage, bool (*can)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        platform_confine(stage);
        _exit(can() ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status)); /* refused calls fail; they do not end the process */
    return WEXITSTATUS(status) == 0;
}

static bool run_a_program(void)
{
    char *const words[] = {"true", NULL};
    execv("/bin/true", words);
    return false;
}

static bool write_a_file(void)
{
    return open("/dev/null", O_WRONLY) >= 0;
}

static bool create_a_file(void)
{
    return open("/tmp", O_RDWR | O_TMPFILE, 0600) >= 0 || errno == EOPNOTSUPP;
}

static bool read_a_file(void)
{
    return open("/dev/null", O_RDONLY) >= 0;
}

static bool map_code(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED;
}

static bool connect_to_the_network(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno == EAFNOSUPPORT;
}

static bool be_traced(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static void *nothing(void *context)
{
    return context;
}

static bool begin_a_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool fork_a_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child > 0 && waitpid(child, NULL, 0) == child;
}

/* libbpf since 1.4. */
static bool make_a_memory_file(void)
{
    return memfd_create("placeholder", MFD_CLOEXEC) >= 0;
}

static bool print_a_line(void)
{
    char path[] = "/proc/self/status", line[64];
    FILE *file = fopen(path, "re");
    return file && fgets(line, sizeof(line), file) && fclose(file) == 0;
}

static void a_recorder_cannot_change_the_system(void **state)
{
    static bool (*const refused[])(void) = {run_a_program, write_a_file,           create_a_file,
                                            map_code,      connect_to_the_network, be_traced};
    (void)state;
    if (IS_SANITIZED)
        skip();
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_false(can_do(PLATFORM_STARTING, refused[i]));
        assert_false(can_do(PLATFORM_RECORDING, refused[i]));
        assert_false(can_do(PLATFORM_WRITING, refused[i]));
    }
}

static void it_can_do_its_work(void **state)
{
    static bool (*const allowed[])(void) = {read_a_file, begin_a_thread, fork_a_child,
                                            make_a_memory_file, print_a_line};
    (void)state;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        assert_true(can_do(PLATFORM_STARTING, allowed[i]));
        assert_true(can_do(PLATFORM_RECORDING, allowed[i]));
        assert_int_equal(can_do(PLATFORM_WRITING, allowed[i]), IS_SANITIZED);
    }
}

static int open_file;

static bool write_to_what_is_open(void)
{
    return pwrite(open_file, "x", 1, 0) == 1 && ftruncate(open_file, 0) == 0 &&
           close(open_file) == 0;
}

static void a_writer_writes_its_file(void **state)
{
    char path[] = "/tmp/argus-confine-XXXXXX";
    (void)state;
    open_file = mkstemp(path);
    unlink(path);
    assert_true(can_do(PLATFORM_WRITING, write_to_what_is_open));
    close(open_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorder_cannot_change_the_system),
        cmocka_unit_test(it_can_do_its_work),
        cmocka_unit_test(a_writer_writes_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
