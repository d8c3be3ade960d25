/* loops WORD [FILE]: an event loop that gets typed keys, and behaves in different ways. Each WORD
 * is a row of `cases` and the name of the process. live_hangs.py has the expected answers of Argus.
 * */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_S 2.8

static int keys; /* the descriptor on which keys arrive */
static const char *file;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
    double until = now_s() + seconds;
    while (now_s() < until)
        ;
}

static void rest(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    while (nanosleep(&pause, &pause) != 0)
        ;
}

/* True in the child, which has that name. */
static bool begin_process(const char *name)
{
    if (fork() != 0)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    return true;
}

static void take_key(void)
{
    char key;
    if (read(keys, &key, 1) != 1)
        exit(0);
}

/* Handles keys as they arrive, for this long. */
static void loop(double seconds)
{
    struct pollfd ready = {.fd = keys, .events = POLLIN};
    for (double until = now_s() + seconds; now_s() < until;)
        if (poll(&ready, 1, 200) > 0)
            take_key();
}

/* Its polls always find something, but the loop always returns to its poll, with one exception. */
static void feed(double jam_s)
{
    int own[2];
    char byte = 0;
    if (pipe(own) != 0)
        return;
    struct pollfd ready[2] = {{.fd = keys, .events = POLLIN}, {.fd = own[0], .events = POLLIN}};
    for (int turn = 0; turn < 9 && poll(ready, 2, -1) > 0; turn++)
        take_key();
    for (int turn = 0; turn < 120; turn++) {
        if (write(own[1], &byte, 1) != 1 || poll(ready, 2, -1) < 1)
            return;
        if (ready[0].revents)
            take_key();
        if (turn == 60)
            burn(jam_s);
        burn(.03);
        if (read(own[0], &byte, 1) != 1)
            return;
    }
}

static void weave(void)
{
    feed(0);
}

static void weave_and_jam(void)
{
    feed(HANG_S);
}

static void be_stopped(void)
{
    pid_t statue = getpid();
    if (begin_process("medusaeye")) {
        rest(1.2);
        kill(statue, SIGSTOP);
        rest(HANG_S);
        kill(statue, SIGCONT);
        _exit(0);
    }
    loop(5);
}

/* Work of 10 ms, on a CPU that threads of higher priority use. */
static void thirst(void)
{
    const struct sched_param idle = {.sched_priority = 0};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    loop(1);
    for (int i = 0; i < 3; i++)
        if (begin_process("greedyoak")) {
            setpriority(PRIO_PROCESS, 0, -20);
            burn(HANG_S + .5);
            _exit(0);
        }
    sched_setscheduler(0, SCHED_IDLE, &idle);
    burn(.01);
    loop(1);
}

/* Waits in its poll for 4 s, and nothing comes. */
static void nap(void)
{
    struct pollfd ready = {.fd = keys, .events = POLLIN};
    for (int i = 0; i < 12 && poll(&ready, 1, -1) > 0; i++)
        take_key();
    poll(&ready, 1, 4000);
}

/* No input: it works by its own timer. */
static void keep_owls(void)
{
    int own[2];
    if (pipe(own) != 0)
        return;
    struct pollfd ready = {.fd = own[0], .events = POLLIN};
    for (int i = 0; i < 6; i++)
        poll(&ready, 1, 100);
    burn(HANG_S);
    for (int i = 0; i < 4; i++)
        poll(&ready, 1, 100);
}

/* Reads up to the given number of keys, while they come often enough. */
__attribute__((noinline)) static void take_keys(int count, int wait_ms)
{
    struct pollfd ready = {.fd = keys, .events = POLLIN};
    for (int i = 0; i < count && poll(&ready, 1, wait_ms) > 0; i++)
        take_key();
}

/* A library's own wait, which repeatedly polls for another descriptor. */
__attribute__((noinline)) static void look_elsewhere(void)
{
    int own[2];
    if (pipe(own) != 0)
        return;
    struct pollfd ready = {.fd = own[0], .events = POLLIN};
    for (double until = now_s() + HANG_S; now_s() < until;)
        poll(&ready, 1, 100);
}

/* A dialog with a nested loop, which gets no input for a while. */
__attribute__((noinline)) static void open_dialog(void)
{
    take_keys(50, 4000);
}

/* The loop, in which the handler after 12 keys calls the behaviour. */
__attribute__((noinline)) static void handle_keys(void (*handler)(void))
{
    struct pollfd ready = {.fd = keys, .events = POLLIN};
    for (int i = 0; i < 24 && poll(&ready, 1, 2500) > 0; i++) {
        take_key();
        if (i == 12)
            handler();
    }
}

static void dive(void)
{
    handle_keys(look_elsewhere);
}

static void ask(void)
{
    handle_keys(open_dialog);
}

static void end(int number)
{
    (void)number;
    _exit(0);
}

/* Never returns. */
static void get_lost(void)
{
    int own[2];
    char byte;
    loop(1);
    signal(SIGALRM, end);
    alarm(3);
    if (pipe(own) != 0 || read(own[0], &byte, 1) != 0)
        abort();
}

/* Reads pages of a file at random; none of them is in memory. */
static void read_atlas(void)
{
    int atlas = open(file ? file : "", O_RDONLY | O_CLOEXEC);
    off_t bytes = atlas < 0 ? 0 : lseek(atlas, 0, SEEK_END);
    if (bytes <= 0)
        exit(1);
    const volatile char *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, atlas, 0);
    if (map == MAP_FAILED)
        exit(1);
    madvise((void *)map, (size_t)bytes, MADV_RANDOM);
    posix_fadvise(atlas, 0, 0, POSIX_FADV_DONTNEED);
    setpriority(PRIO_PROCESS, 0, -20); /* so that it waits for pages only, also on a busy machine */
    loop(1);
    unsigned long sum = 0, place = 88172645463325252ul;
    for (double until = now_s() + HANG_S; now_s() < until;) {
        place ^= place << 13;
        place ^= place >> 7;
        place ^= place << 17;
        sum += (unsigned char)map[place % (unsigned long)bytes];
    }
    loop(1 + 1e-9 * (double)(sum & 1));
}

static const struct {
    const char *word, *name;
    void (*run)(void);
    int typed; /* keys in all, one each 0.1 s */
} cases[] = {
    {"weave", "weaverloom", weave, 10},     {"jam", "weaverjam", weave_and_jam, 80},
    {"stop", "statuegame", be_stopped, 80}, {"thirst", "thirstyvine", thirst, 80},
    {"nap", "napeditor", nap, 12},          {"owl", "owlkeeper", keep_owls, 0},
    {"dive", "divingbell", dive, 60},       {"ask", "askingowl", ask, 24},
    {"lost", "lostferry", get_lost, 80},    {"atlas", "atlasreader", read_atlas, 80},
};

static void type_keys(int to, int count)
{
    for (int i = 0; i < count; i++) {
        rest(.1);
        if (write(to, "k", 1) != 1)
            break;
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int line[2];
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++) {
        if (strcmp(argv[1], cases[i].word) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, line) != 0)
            continue;
        file = argc > 2 ? argv[2] : NULL;
        keys = line[1];
        prctl(PR_SET_NAME, cases[i].name);
        if (begin_process("quilltypist"))
            type_keys(line[0], cases[i].typed);
        cases[i].run();
        return 0;
    }
    fprintf(stderr, "usage: loops WORD [FILE]\n");
    return 2;
}
