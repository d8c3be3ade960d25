/* A program that is built with 64 and with 32 bits: compat_target CASE [PATH].
 *
 *   waits         one wait of each kind, with a helper thread at the other end of all of them
 *   server PATH   answers on the unix socket PATH, behind a lock that an indexer holds for 1.5 s now and then
 *   client PATH   an event loop that asks the server ten times a second, for five seconds
 *   int80         system calls of the 32-bit table by "int $0x80", also from code of 64 bits
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOT_INLINED    __attribute__((noinline))
#define NO_TAIL_CALL() __asm__ volatile("")

static int pipe_ends[2], events, sockets[2];

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

/* --- waits --- */

static struct msghdr message_of(struct iovec *part)
{
    return (struct msghdr){.msg_iov = part, .msg_iovlen = 1};
}

/* Ends each of the waits in main's order, 30 ms after the one before. */
static void *help(void *context)
{
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}}, hello = {"hello", 5};
    struct msghdr message = message_of(&hello);
    struct mmsghdr messages = {.msg_hdr = message};
    uint64_t units = 3;
    for (int i = 0; i < 6; i++) {
        sleep_ms(30);
        check((i % 2 ? writev(pipe_ends[1], parts, 2) : write(pipe_ends[1], "abcd", 4)) == 4,
              "write");
    }
    sleep_ms(30);
    check(write(events, &units, sizeof(units)) == sizeof(units), "eventfd");
    sleep_ms(30);
    check(sendmsg(sockets[1], &message, 0) == 5, "sendmsg");
    sleep_ms(30);
    check(sendmmsg(sockets[1], &messages, 1, 0) == 1, "sendmmsg");
    sleep_ms(30);
    check(send(sockets[1], "x", 1, 0) == 1, "send");
    return context;
}

static void take_four(void)
{
    char bytes[4];
    check(read(pipe_ends[0], bytes, 4) == 4, "read");
}

/* recv() of programs of before Linux 4.3. */
static long receive_by_socketcall(int socket, char *buffer, size_t bytes)
{
#ifdef __i386__
    unsigned long arguments[4] = {(unsigned long)socket, (unsigned long)buffer, bytes, 0};
    return syscall(SYS_socketcall, 10, arguments);
#else
    return recv(socket, buffer, bytes, 0);
#endif
}

static void wait_for_descriptors(void)
{
    struct pollfd entry = {.fd = pipe_ends[0], .events = POLLIN};
    fd_set set;
    check(poll(&entry, 1, -1) == 1, "poll");
    take_four();
    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    check(select(pipe_ends[0] + 1, &set, NULL, NULL, NULL) == 1, "select");
    take_four();
    entry.revents = 0;
    check(ppoll(&entry, 1, NULL, NULL) == 1, "ppoll");
    take_four();
    int poller = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x123456789abcull};
    check(epoll_ctl(poller, EPOLL_CTL_ADD, pipe_ends[0], &event) == 0, "epoll_ctl");
    check(epoll_wait(poller, &event, 1, -1) == 1, "epoll_wait");
    take_four();
}

static int do_waits(void)
{
    char bytes[64];
    uint64_t units;
    struct iovec part = {bytes, 4};
    pthread_t helper;
    check(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0, "pipe");
    events = eventfd(0, 0);
    check(pthread_create(&helper, NULL, help, NULL) == 0, "thread");
    take_four();
    check(readv(pipe_ends[0], &part, 1) == 4, "readv");
    wait_for_descriptors();
    check(read(events, &units, sizeof(units)) == sizeof(units) && units == 3, "eventfd");
    part.iov_len = sizeof(bytes);
    struct msghdr message = message_of(&part);
    struct mmsghdr messages = {.msg_hdr = message};
    check(recvmsg(sockets[0], &message, 0) == 5, "recvmsg");
    check(recvmmsg(sockets[0], &messages, 1, 0, NULL) == 1, "recvmmsg");
    check(receive_by_socketcall(sockets[0], bytes, sizeof(bytes)) == 1, "recv");
    pthread_join(helper, NULL);
    if (fork() == 0) {
        sleep_ms(30);
        _exit(0);
    }
    return wait(NULL) < 0;
}

/* --- a server that freezes its client --- */

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;

static NOT_INLINED void rebuild_index(void)
{
    pthread_mutex_lock(&store_lock);
    sleep_ms(1500);
    pthread_mutex_unlock(&store_lock);
    NO_TAIL_CALL();
}

static NOT_INLINED void *run_indexer(void *context)
{
    pthread_setname_np(pthread_self(), "indexer");
    for (;;) {
        sleep_ms(1000);
        rebuild_index();
    }
    return context;
}

static NOT_INLINED void look_up(char *word)
{
    pthread_mutex_lock(&store_lock);
    word[0] ^= 1;
    pthread_mutex_unlock(&store_lock);
    NO_TAIL_CALL();
}

static NOT_INLINED void serve(int client)
{
    char word[64];
    struct pollfd entry = {.fd = client, .events = POLLIN};
    while (poll(&entry, 1, -1) == 1) {
        ssize_t bytes = recv(client, word, sizeof(word), 0);
        if (bytes <= 0)
            break;
        look_up(word);
        send(client, word, (size_t)bytes, 0);
    }
    NO_TAIL_CALL();
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    return address;
}

static int do_server(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t indexer;
    check(bind(listener, (void *)&address, sizeof(address)) == 0 && listen(listener, 4) == 0, path);
    check(pthread_create(&indexer, NULL, run_indexer, NULL) == 0, "thread");
    int client = accept(listener, NULL, NULL);
    check(client >= 0, "accept");
    serve(client);
    return 0;
}

static NOT_INLINED void ask_server(int server)
{
    char word[64] = "word";
    send(server, word, 40, 0);
    recv(server, word, sizeof(word), 0);
    NO_TAIL_CALL();
}

static NOT_INLINED void on_tick(int timer, int server)
{
    uint64_t ticks;
    if (read(timer, &ticks, sizeof(ticks)) == sizeof(ticks))
        ask_server(server);
    NO_TAIL_CALL();
}

static int do_client(const char *path)
{
    struct sockaddr_un address = address_of(path);
    struct itimerspec tick = {{0, 100000000}, {0, 100000000}};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    int poller = epoll_create1(0);
    while (connect(server, (void *)&address, sizeof(address)))
        sleep_ms(10);
    timerfd_settime(timer, 0, &tick, NULL);
    epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event);
    for (time_t end = time(NULL) + 5; time(NULL) < end;)
        if (epoll_wait(poller, &event, 1, -1) == 1)
            on_tick(timer, server);
    return 0;
}

/* --- by hand --- */

/* Of the 32-bit table: 20 is getpid(), 64 getppid(). */
static int do_int80(void)
{
    unsigned found = 0;
#if defined(__i386__) || defined(__x86_64__)
    int number = 20;
    __asm__ volatile("int $0x80" : "=a"(found) : "a"(number) : "memory", "cc");
    number = 64;
    __asm__ volatile("int $0x80" : "=a"(number) : "a"(number) : "memory", "cc");
#endif
    printf("%u\n", found);
    return found != (unsigned)getpid();
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    if (strcmp(name, "waits") == 0)
        return do_waits();
    if (strcmp(name, "server") == 0)
        return do_server(path);
    if (strcmp(name, "client") == 0)
        return do_client(path);
    return do_int80();
}
