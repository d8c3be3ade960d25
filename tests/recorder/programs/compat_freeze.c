/* Freezes of a second and a half, built with 64 and with 32 bits: compat_freeze KIND.
 *
 * An event loop of 20 ticks a second. In the fifth turn it waits for code that sleeps in
 * slow_index(): in another process, in a thread, or in its own signal handler.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOT_INLINED    __attribute__((noinline))
#define NO_TAIL_CALL() __asm__ volatile("")
#define SLOW_MS        1500
#define TURNS          10

static int answers[2], requests[2];
static volatile sig_atomic_t handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lock_path[] = "/tmp/argus-compat-XXXXXX";

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    _exit(1);
}

static NOT_INLINED void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
    NO_TAIL_CALL();
}

static NOT_INLINED void slow_index(void)
{
    sleep_ms(SLOW_MS);
    NO_TAIL_CALL();
}

static void take_byte(int descriptor)
{
    char byte;
    check(read(descriptor, &byte, 1) == 1, "read");
}

static void give_byte(int descriptor)
{
    check(write(descriptor, "x", 1) == 1, "write");
}

/* --- the other side: the code that the loop waits for --- */

static NOT_INLINED void help_late(void)
{
    take_byte(requests[1]);
    slow_index();
    give_byte(answers[1]);
    NO_TAIL_CALL();
}

static NOT_INLINED void help_locked(void)
{
    int file = open(lock_path, O_RDWR);
    take_byte(requests[1]);
    check(flock(file, LOCK_EX) == 0, "flock");
    give_byte(answers[1]);
    slow_index();
    check(flock(file, LOCK_UN) == 0, "flock");
    NO_TAIL_CALL();
}

static NOT_INLINED void *help_by_thread(void *context)
{
    pthread_setname_np(pthread_self(), "indexer");
    pthread_mutex_lock(&lock);
    slow_index();
    pthread_mutex_unlock(&lock);
    NO_TAIL_CALL();
    return context;
}

static NOT_INLINED void on_alarm(int number)
{
    (void)number;
    slow_index();
    handled = 1;
    NO_TAIL_CALL();
}

/* --- the event loop, which freezes --- */

static NOT_INLINED void ask_reader(void)
{
    give_byte(requests[0]);
    take_byte(answers[0]);
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_poller(void)
{
    struct pollfd entry = {.fd = answers[0], .events = POLLIN};
    give_byte(requests[0]);
    check(poll(&entry, 1, -1) == 1, "poll");
    take_byte(answers[0]);
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_lock_of_file(void)
{
    int file = open(lock_path, O_RDWR);
    give_byte(requests[0]);
    take_byte(answers[0]);
    check(flock(file, LOCK_EX) == 0 && flock(file, LOCK_UN) == 0, "flock");
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_thread(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, help_by_thread, NULL) == 0, "thread");
    pthread_join(thread, NULL);
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_mutex(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, help_by_thread, NULL) == 0, "thread");
    sleep_ms(20);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_sleep(void)
{
    slow_index();
    NO_TAIL_CALL();
}

static NOT_INLINED void ask_signal(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value.tv_usec = 20000};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    char byte;
    while (!handled && read(answers[0], &byte, 1) < 0)
        ;
    NO_TAIL_CALL();
}

static const struct {
    const char *name;
    void (*ask)(void), (*help)(void); /* help: in another process; NULL: there is none */
} kinds[] = {
    {"pipe", ask_reader, help_late},
    {"socket", ask_poller, help_late},
    {"flock", ask_lock_of_file, help_locked},
    {"join", ask_thread, NULL},
    {"mutex", ask_mutex, NULL},
    {"sleep", ask_sleep, NULL},
    {"signal", ask_signal, NULL},
};

static NOT_INLINED void on_tick(int timer, int turn, void (*ask)(void))
{
    uint64_t ticks;
    check(read(timer, &ticks, sizeof(ticks)) == sizeof(ticks), "timer");
    if (turn == TURNS / 2)
        ask();
    NO_TAIL_CALL();
}

static NOT_INLINED void run_loop(void (*ask)(void))
{
    struct itimerspec tick = {{0, 50000000}, {0, 50000000}};
    struct pollfd entry = {.fd = timerfd_create(CLOCK_MONOTONIC, 0), .events = POLLIN};
    timerfd_settime(entry.fd, 0, &tick, NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        check(poll(&entry, 1, -1) == 1, "poll");
        on_tick(entry.fd, turn, ask);
    }
    NO_TAIL_CALL();
}

static void start_helper(void (*help)(void))
{
    if (fork())
        return;
    help();
    _exit(0);
}

int main(int argc, char **argv)
{
    size_t kind = 0;
    while (kind < sizeof(kinds) / sizeof(*kinds) &&
           strcmp(kinds[kind].name, argc > 1 ? argv[1] : "") != 0)
        kind++;
    if (kind == sizeof(kinds) / sizeof(*kinds))
        return 2;
    int is_pipe = strcmp(kinds[kind].name, "pipe") == 0;
    check((is_pipe ? pipe(answers) : socketpair(AF_UNIX, SOCK_STREAM, 0, answers)) == 0, "answers");
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, requests) == 0 && mkstemp(lock_path) >= 0,
          "requests");
    if (kinds[kind].help)
        start_helper(kinds[kind].help);
    run_loop(kinds[kind].ask);
    unlink(lock_path);
    return 0;
}
