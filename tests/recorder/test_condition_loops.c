/* Event loops that do not poll: threads that wait for a condition while another thread reads for
 * them, in this process, which has a connection to a display; and a program that reads its
 * terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/linux/condition_loops.h"
#include "recorder/server/proc_stat.h"

#define MS   1000000ull
#define ROOM 8
#define MOST 1024

static int display_server, display_client, wakes[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool reads;
static _Atomic uint32_t queue_tid;

static int connect_to_display(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int bytes = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
                         "argus-%d/.X11-unix/X9", (int)getpid());
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
    display_server = socket(AF_UNIX, SOCK_STREAM, 0);
    display_client = socket(AF_UNIX, SOCK_STREAM, 0);
    return bind(display_server, (struct sockaddr *)&address, length) || listen(display_server, 1) ||
           connect(display_client, (struct sockaddr *)&address, length) || pipe(wakes);
}

/* Waits at the condition until `reads`, then reads from the pipe until that is closed. */
static void *handle_events(void *context)
{
    char byte;
    (void)context;
    queue_tid = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&mutex);
    while (!reads)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    while (read(wakes[0], &byte, 1) > 0)
        ;
    return NULL;
}

static struct backend_poller poller_of(uint32_t tid, uint64_t rested_ns)
{
    return (struct backend_poller){.tid = tid,
                                   .pid = (uint32_t)getpid(),
                                   .returned_ns = 1,
                                   .returns = 1,
                                   .rested_ns = rested_ns};
}

/* The time at which it found the queue away, which has polled once; 0: it has not. */
static uint64_t look(struct condition_loops *loops, uint64_t now_ns, uint64_t main_rests_ns)
{
    struct backend_poller pollers[ROOM] = {poller_of(queue_tid, 0),
                                           poller_of((uint32_t)getpid(), main_rests_ns)};
    size_t count = 2;
    condition_loops_add(loops, now_ns, pollers, ROOM, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pollers[0].tid, queue_tid);
    assert_false(pollers[1].waits_for_condition);
    return pollers[0].waits_for_condition ? pollers[0].returned_ns : 0;
}

/* Looks until the queue is found away, then once more; returns since when it is away. */
static uint64_t look_until_away(struct condition_loops *loops, uint64_t now_ns)
{
    uint64_t since_ns = 0;
    for (; !since_ns; now_ns += MS) {
        poll(NULL, 0, 1);
        since_ns = look(loops, now_ns, 0);
    }
    assert_int_equal(look(loops, now_ns, 0), since_ns);
    return since_ns;
}

static bool waits_at_condition(uint32_t pid, uint32_t tid)
{
    char path[64], text[32] = "";
    snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, tid);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(text, sizeof(text), file);
    if (file)
        fclose(file);
    long number = -1;
    return read && sscanf(text, "%ld", &number) == 1 && number == SYS_futex;
}

static void a_thread_away_from_its_condition(void **state)
{
    (void)state;
    pthread_t thread;
    struct condition_loops *loops = condition_loops_create();
    assert_int_equal(pthread_create(&thread, NULL, handle_events, NULL), 0);
    while (!queue_tid || !waits_at_condition((uint32_t)getpid(), queue_tid))
        poll(NULL, 0, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(look(loops, (uint64_t)(i + 1) * MS, 0), 0);
    pthread_mutex_lock(&mutex);
    reads = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    assert_true(look_until_away(loops, 100 * MS) >= 100 * MS);
    assert_int_equal(look(loops, 10000 * MS, 1000 * MS), 0); /* its main thread is the loop */
    close(wakes[1]);
    pthread_join(thread, NULL);
    condition_loops_destroy(loops);
}

static unsigned bytes_read;

static void *count_bytes(void *context)
{
    char byte;
    const int *fd = context;
    while (read(*fd, &byte, 1) == 1) {
        pthread_mutex_lock(&mutex);
        bytes_read++;
        pthread_mutex_unlock(&mutex);
        pthread_cond_signal(
            &changed); /* now, so that the other thread does not wait for the mutex */
    }
    _exit(0);
}

__attribute__((noinline)) static void wait_for_byte(unsigned wanted, size_t room)
{
    volatile char frame[room];
    frame[0] = 0;
    pthread_mutex_lock(&mutex);
    while (bytes_read < wanted + (unsigned)frame[0])
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* Handles events from number `from` on, in turns at home and in a handler. */
__attribute__((noinline)) static void take_turns(unsigned from, size_t room)
{
    volatile char frame[room];
    frame[0] = 0;
    for (unsigned i = from + (unsigned)frame[0];; i += 2) {
        wait_for_byte(i + 1, 16);
        wait_for_byte(i + 2, 4096);
    }
}

/* A main thread for which another one reads. The first byte is waited for at `waits_first`, which
 * is nearer to the beginning of the stack than the loop. */
static pid_t start_turns(int ends[2], bool waits_first)
{
    pthread_t thread;
    int begun[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(begun), 0);
    pid_t pid = fork();
    if (pid != 0) {
        close(begun[1]);
        /* under a sanitizer, pthread_create() waits at a futex, with a higher stack pointer */
        assert_int_equal(read(begun[0], &byte, 1), 1);
        close(begun[0]);
        return pid;
    }
    close(ends[1]);
    if (pthread_create(&thread, NULL, count_bytes, &ends[0]) != 0 || write(begun[1], "x", 1) != 1)
        _exit(1);
    if (waits_first)
        wait_for_byte(1, 16);
    take_turns(waits_first, 8192);
    _exit(0);
}

/* What is found of its main thread, which polls now, or whose last poll was long ago. */
static struct backend_poller look_at_poller(struct condition_loops *loops, pid_t pid, bool polling,
                                            uint64_t *now_ns)
{
    static struct backend_poller pollers[MOST];
    size_t count = 1;
    pollers[0] = (struct backend_poller){.tid = (uint32_t)pid,
                                         .pid = (uint32_t)pid,
                                         .returned_ns = 1,
                                         .returns = 5,
                                         .polling = polling};
    condition_loops_add(loops, *now_ns += MS, pollers, MOST, &count);
    poll(NULL, 0, 1);
    return pollers[0];
}

static struct backend_poller look_at(struct condition_loops *loops, pid_t pid, uint64_t *now_ns)
{
    return look_at_poller(loops, pid, false, now_ns);
}

/* Looks until it is found away, or at home. */
static void look_until(struct condition_loops *loops, pid_t pid, bool away, uint64_t *now_ns)
{
    struct backend_poller found;
    do
        found = look_at(loops, pid, now_ns);
    while (away ? !found.waits_for_condition : !found.polling);
}

/* If it were found there often, that place would be its home. */
static void leave_first_place(pid_t pid, int fd)
{
    struct proc_place first, now = {.sp = 0};
    assert_true(proc_place_read((uint32_t)pid, (uint32_t)pid, &first));
    assert_int_equal(write(fd, "x", 1), 1);
    while (!now.sp || now.sp == first.sp) {
        poll(NULL, 0, 1);
        assert_true(proc_place_read((uint32_t)pid, (uint32_t)pid, &now));
    }
}

static void look_at_turns(bool waits_first)
{
    int ends[2];
    uint64_t now_ns = 0;
    struct condition_loops *loops = condition_loops_create();
    pid_t pid = start_turns(ends, waits_first);
    if (waits_first) {
        while (!waits_at_condition((uint32_t)pid, (uint32_t)pid))
            poll(NULL, 0, 1);
        look_at(loops, pid, &now_ns);
        leave_first_place(pid, ends[1]);
    }
    for (int i = 0; i < 3; i++) {
        look_until(loops, pid, false, &now_ns);
        assert_int_equal(write(ends[1], "x", 1), 1);
        look_until(loops, pid, true, &now_ns);
        assert_int_equal(write(ends[1], "x", 1), 1);
    }
    look_until(loops, pid, false, &now_ns);
    close(ends[1]);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    condition_loops_destroy(loops);
}

/* Reads its terminal until a line comes, then waits for ever. */
static void read_terminal(const char *terminal)
{
    char byte;
    setsid();
    int fd = open(terminal, O_RDWR); /* becomes the terminal of the session */
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || read(STDIN_FILENO, &byte, 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Whether two looks in a row, with a list of all processes at each, find the process away. */
static bool is_away(struct condition_loops *loops, pid_t pid, uint64_t *now_ns)
{
    bool away = true;
    for (int i = 0; i < 2; i++) {
        static struct backend_poller pollers[MOST]; /* other programs may be away, too */
        size_t count = 0;
        bool found = false;
        *now_ns += 6000 * MS;
        condition_loops_add(loops, *now_ns, pollers, MOST, &count);
        for (size_t at = 0; at < count; at++)
            found |= pollers[at].tid == (uint32_t)pid && pollers[at].waits_for_condition;
        away &= found;
        poll(NULL, 0, 1);
    }
    return away;
}

static void a_main_thread_away_from_its_condition(void **state)
{
    (void)state;
    look_at_turns(false);
}

static void a_main_thread_that_waited_elsewhere_first(void **state)
{
    (void)state;
    look_at_turns(true);
}

/* Its loop polls, and a handler waits for a condition. */
static void a_main_thread_that_polls(void **state)
{
    (void)state;
    int ends[2];
    uint64_t now_ns = 0;
    struct condition_loops *loops = condition_loops_create();
    pid_t pid = start_turns(ends, false);
    for (int i = 0; i < 20; i++)
        assert_true(look_at_poller(loops, pid, true, &now_ns).polling);
    while (!waits_at_condition((uint32_t)pid, (uint32_t)pid))
        poll(NULL, 0, 1);
    for (int i = 0; i < 15; i++) {
        struct backend_poller found = look_at(loops, pid, &now_ns);
        assert_false(found.polling || found.waits_for_condition);
    }
    close(ends[1]);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    condition_loops_destroy(loops);
}

static void a_program_away_from_its_terminal(void **state)
{
    (void)state;
    uint64_t now_ns = 0;
    struct condition_loops *loops = condition_loops_create();
    int typed = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(typed >= 0 && grantpt(typed) == 0 && unlockpt(typed) == 0);
    pid_t pid = fork();
    if (pid == 0)
        read_terminal(ptsname(typed));
    for (int i = 0; i < 20; i++)
        assert_false(is_away(loops, pid, &now_ns));
    assert_int_equal(write(typed, "x\n", 2), 2);
    while (!is_away(loops, pid, &now_ns))
        ;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(typed);
    condition_loops_destroy(loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_away_from_its_condition),
        cmocka_unit_test(a_main_thread_away_from_its_condition),
        cmocka_unit_test(a_main_thread_that_waited_elsewhere_first),
        cmocka_unit_test(a_main_thread_that_polls),
        cmocka_unit_test(a_program_away_from_its_terminal),
    };
    return cmocka_run_group_tests(tests, connect_to_display, NULL);
}
