/* Servers whose workers are held up, or have nothing to do with a request; locks of a program's own. */
#include "stuck.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { WORKERS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static int listener, told[2];
static int has_idle_worker;
static atomic_int workers[WORKERS]; /* thread IDs */

/* --- pools --- */

static __attribute__((noinline)) void *await_work(void)
{
    pthread_mutex_lock(&queue);
    pthread_cond_wait(&has_work, &queue);
    return NULL;
}

/* Number 0 has the lock, and works on an earlier request. */
static void *work(void *number)
{
    workers[(intptr_t)number] = gettid();
    if (has_idle_worker && (intptr_t)number == WORKERS - 1)
        return await_work();
    if (number) {
        if ((intptr_t)number == 1)
            say("worker", gettid());
        pthread_mutex_lock(&lock);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    say("holder", gettid());
    sem_post(&locked);
    work_slowly();
    return NULL;
}

static void begin_workers(void)
{
    pthread_t thread;
    begin(work, NULL);
    for (intptr_t i = 1; i < WORKERS; i++)
        pthread_create(&thread, NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        while (!workers[i] || !is_asleep(workers[i]))
            usleep(SETTLE_US);
    usleep(2 * SETTLE_US); /* the clocks are not exact */
}

/* An event loop that reads requests, and leaves the work to others. */
static void read_requests(void)
{
    char bytes[64];
    say("server", getpid());
    (void)!write(told[1], "w", 1);
    struct pollfd polled[] = {{accept(listener, NULL, NULL), POLLIN, 0}, {listener, POLLIN, 0}};
    for (;;)
        if (poll(polled, 2, -1) > 0 && polled[0].revents)
            (void)!read(polled[0].fd, bytes, sizeof(bytes));
}

static void serve_with_workers(void *data)
{
    (void)data;
    begin_workers();
    read_requests();
}

static void ask(int family, void (*serve)(void *data))
{
    struct sockaddr_in inet = {.sin_family = AF_INET};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr *address = family == AF_UNIX ? (void *)&local : (void *)&inet;
    socklen_t length = sizeof(inet);
    char byte;
    inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(local.sun_path + 1, sizeof(local.sun_path) - 1, "argus-why-pool-%d", getpid());
    if (family == AF_UNIX)
        length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(local.sun_path + 1));
    listener = socket(family, SOCK_STREAM, 0);
    if (bind(listener, address, length) != 0 || listen(listener, 5) != 0 ||
        getsockname(listener, address, &length) != 0 || pipe(told) != 0)
        exit(1);
    child_of(serve, NULL);
    (void)!read(told[0], &byte, 1);
    close(listener);
    int fd = socket(family, SOCK_STREAM, 0);
    if (connect(fd, address, length) != 0)
        exit(1);
    soon_ready();
    (void)!write(fd, "question", 8);
    (void)!read(fd, &byte, 1);
}

/* The event loop has read the request; the workers have been blocked since before. */
void blocked_pool(void)
{
    ask(AF_INET, serve_with_workers);
}

void blocked_pool_unix(void)
{
    ask(AF_UNIX, serve_with_workers);
}

/* A worker is free, so the others do not hold up the request. */
void pool_with_free_worker(void)
{
    has_idle_worker = 1;
    ask(AF_INET, serve_with_workers);
}

/* --- waits for room, among others --- */

static int requests[2], answers[2];

static void read_no_requests(void *data)
{
    (void)data;
    close(requests[1]);
    close(answers[0]);
    work_slowly();
}

static void poll_full(int is_loop)
{
    static const char bytes[4096];
    if (pipe2(requests, O_NONBLOCK) != 0 || pipe(answers) != 0)
        return;
    say("reader", child_of(read_no_requests, NULL));
    close(requests[0]);
    close(answers[1]);
    while (write(requests[1], bytes, sizeof(bytes)) > 0)
        continue;
    soon_ready();
    int child[2];
    (void)!pipe(child);
    child_of(sleep_long, NULL);
    close(child[1]);
    struct pollfd polled[] = {{requests[1], POLLOUT, 0},
                              {answers[0], POLLIN, 0},
                              {child[0], POLLIN, 0},
                              {is_loop ? socket(AF_UNIX, SOCK_DGRAM, 0) : -1, POLLIN, 0}};
    poll(polled, 4, -1);
}

/* The process at the other end of the others does not read; one leads to another child. */
void full_in_set(void)
{
    poll_full(0);
}

/* Other events can come: what was not read does not hold up an event loop. */
void full_in_loop(void)
{
    poll_full(1);
}

/* --- a thread that only cleans up sometimes, in the server of a unix socket --- */

static void *clean_up(void *ret)
{
    *(atomic_int *)ret = gettid();
    work_slowly();
    return NULL;
}

static void serve_beside_cleaner(void *data)
{
    pthread_t thread;
    atomic_int cleaner = 0;
    (void)data;
    pthread_create(&thread, NULL, clean_up, &cleaner);
    while (!cleaner || !is_asleep(cleaner))
        usleep(SETTLE_US);
    usleep(SETTLE_US); /* the clocks are not exact */
    read_requests();
}

void cleaner_of_unix_server(void)
{
    ask(AF_UNIX, serve_beside_cleaner);
}

/* --- locks and semaphores --- */

static atomic_uint own_word;

static void take_own_lock(unsigned taken)
{
    for (unsigned is = 0; !atomic_compare_exchange_strong(&own_word, &is, taken); is = 0)
        syscall(SYS_futex, &own_word, FUTEX_WAIT_PRIVATE, is, NULL);
}

static void *hold_own_lock(void *data)
{
    take_own_lock((unsigned)gettid());
    say("holder", gettid());
    sem_post(&locked);
    poll(NULL, 0, -1);
    return data;
}

/* The whole word is the owner's ID; the other thread only seems to be busy. */
void own_lock(void)
{
    begin(hold_own_lock, NULL);
    begin(sleep_thread, NULL);
    soon_ready();
    take_own_lock((unsigned)gettid());
}

/* Readers are counted in it, and the highest bit says that a thread waits: the number is no thread,
 * also where the first thread of a container has it. */
void own_readers(void)
{
    own_word = 0x80000001;
    soon_ready();
    take_own_lock(1);
}

static void *hold_and_await_work(void *data)
{
    take_own_lock(2);
    sem_post(&locked);
    await_work();
    return data;
}

/* The holder waits for work; the thread that sleeps seems to be busy. The word is no ID. */
void own_lock_of_idle(void)
{
    begin(hold_and_await_work, NULL);
    begin(sleep_thread, NULL);
    soon_ready();
    take_own_lock(2);
}

static sem_t *shared;

static void hold_semaphore(void *data)
{
    (void)data;
    sem_wait(shared);
    say("holder", getpid());
    (void)!write(told[1], "h", 1);
    work_slowly();
}

static void want_semaphore(void *data)
{
    (void)data;
    sem_wait(shared);
}

/* Processes share it: the one that does not wait for it probably posts it. */
void shared_semaphore(void)
{
    char byte;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || sem_init(shared, 1, 1) != 0 || pipe(told) != 0)
        exit(1);
    child_of(hold_semaphore, NULL);
    (void)!read(told[0], &byte, 1);
    child_of(want_semaphore, NULL);
    soon_ready();
    sem_wait(shared);
}

/* --- a pipe inside a process --- */

static void *hold_lock_and_read(void *data)
{
    char byte;
    take_own_lock((unsigned)gettid() | FUTEX_WAITERS);
    say("holder", gettid());
    sem_post(&locked);
    (void)!read(told[0], &byte, 1);
    return data;
}

/* The thread that sleeps may write to it: no deadlock. */
void pipe_of_sleeper(void)
{
    if (pipe(told) != 0)
        return;
    begin(hold_lock_and_read, NULL);
    begin(sleep_thread, NULL);
    soon_ready();
    take_own_lock((unsigned)gettid() | FUTEX_WAITERS);
}
