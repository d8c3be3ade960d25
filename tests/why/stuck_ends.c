/* Pipes and sockets whose other end does nothing. */
#include "stuck.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2], parts[2];
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void keep_writer(void *data)
{
    (void)data;
    close(ends[0]);
    work_slowly();
}

static void keep_reader(void *data)
{
    (void)data;
    close(ends[1]);
    work_slowly();
}

void pipe_read(void)
{
    char byte;
    if (pipe(ends) != 0)
        return;
    say("writer", child_of(keep_writer, NULL));
    close(ends[1]);
    soon_ready();
    (void)!read(ends[0], &byte, 1);
}

static void fill(int fd)
{
    char bytes[65536] = {0};
    while (write(fd, bytes, sizeof(bytes)) > 0)
        continue;
}

void pipe_full(void)
{
    if (pipe(ends) != 0)
        return;
    pid_t reader = child_of(keep_reader, NULL);
    say("reader", reader);
    close(ends[0]);
    kill(reader, SIGSTOP);
    soon_ready();
    fill(ends[1]);
}

/* Its own writing end is the only one. */
void pipe_own(void)
{
    char byte;
    if (pipe(ends) != 0)
        return;
    ready();
    (void)!read(ends[0], &byte, 1);
}

/* A signal's handler can write. */
static void write_to_own(int number)
{
    (void)number;
    (void)!write(ends[1], "", 1);
}

void pipe_of_handler(void)
{
    signal(SIGUSR1, write_to_own);
    pipe_own();
}

/* Another thread can. */
void pipe_of_worker(void)
{
    begin(sleep_thread, NULL);
    pipe_own();
}

void pipe_of_workers(void)
{
    begin(sleep_thread, NULL);
    pipe_of_worker();
}

static void open_to_write(void *data)
{
    (void)!open(data, O_WRONLY);
    work_slowly();
}

/* The reader opens the FIFO for both, so that it sees no end of file. */
void fifo_of_both(void)
{
    static char path[] = "/tmp/argus-why-XXXXXX";
    char byte;
    int fd = mkstemp(path);
    close(fd);
    unlink(path);
    if (mkfifo(path, 0600) != 0 || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
        return;
    printf("file %s\n", path);
    close(fd);
    pid_t writer = child_of(open_to_write, path);
    say("writer", writer);
    fd = open(path, O_RDWR);
    soon_ready();
    (void)!read(fd, &byte, 1);
}

static void keep_one(void *data)
{
    (void)data;
    close(ends[0]);
    work_slowly();
}

static void ask(int fd)
{
    char byte;
    (void)!write(fd, "question", 8);
    (void)!read(fd, &byte, 1);
}

/* The server has not read the request. */
void unread(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    say("server", child_of(keep_one, NULL));
    close(ends[1]);
    soon_ready();
    ask(ends[0]);
}

static void read_other(void *data)
{
    char byte;
    (void)data;
    close(ends[0]);
    (void)!read(ends[1], &byte, 1);
}

void mutual(void)
{
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    say("server", child_of(read_other, NULL));
    close(ends[1]);
    soon_ready();
    (void)!read(ends[0], &byte, 1);
}

static void ask_next(void *data)
{
    const int *fds = data;
    char byte;
    (void)!read(fds[0], &byte, 1);
}

/* Pair i joins process i, which reads, and the next one. */
static void keep_ends(int pairs[3][2], int process)
{
    for (int i = 0; i < 3; i++) {
        if (i != process)
            close(pairs[i][0]);
        if ((i + 1) % 3 != process)
            close(pairs[i][1]);
    }
}

void circle_of_sockets(void)
{
    int pairs[3][2];
    for (int i = 0; i < 3; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) != 0)
            return;
    for (int i = 1; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            keep_ends(pairs, i);
            ask_next(&pairs[i][0]);
            _exit(0);
        }
        say(i == 1 ? "next" : "last", pid);
    }
    keep_ends(pairs, 0);
    soon_ready();
    ask_next(&pairs[0][0]);
}

static int listener;

static int listen_tcp(struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)address, length) != 0 || listen(fd, 5) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) != 0)
        exit(1);
    return fd;
}

static void accept_and_sleep(void *data)
{
    (void)data;
    accept(listener, NULL, NULL);
    work_slowly();
}

static void connect_and_ask(pid_t server, const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    say("server", server);
    close(listener);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
        return;
    soon_ready();
    ask(fd);
}

void tcp(void)
{
    struct sockaddr_in address;
    listener = listen_tcp(&address);
    connect_and_ask(child_of(accept_and_sleep, NULL), &address);
}

/* As an event loop does that has nothing to do. */
static void wait_for_events(void)
{
    int sources[2];
    if (pipe(sources) != 0)
        return;
    struct pollfd polled[] = {{.fd = sources[0], .events = POLLIN},
                              {.fd = eventfd(0, 0), .events = POLLIN}};
    for (;;)
        poll(polled, 2, -1);
}

static void *read_and_work(void *data)
{
    char bytes[8];
    while (!is_asleep(getpid()))
        usleep(SETTLE_US);
    usleep(SETTLE_US);
    say("worker", gettid());
    (void)!write(ends[1], "w", 1);
    int fd = accept(listener, NULL, NULL);
    recv(fd, bytes, sizeof(bytes), MSG_WAITALL);
    if (data)
        work_slowly();
    wait_for_events();
    return NULL;
}

static void *clean_up_sometimes(void *data)
{
    *(int *)data = gettid();
    sem_post(&locked);
    work_slowly();
    return NULL;
}

/* A server with a thread that has slept since before the request; another one takes the request. */
static void serve_beside_sleeper(void *is_slow)
{
    pthread_t worker;
    int sleeper;
    begin(clean_up_sometimes, &sleeper);
    while (!is_asleep(sleeper))
        usleep(SETTLE_US);
    usleep(SETTLE_US);
    pthread_create(&worker, NULL, read_and_work, is_slow);
    wait_for_events();
}

static void ask_server_with_sleeper(int is_slow)
{
    struct sockaddr_in address;
    char byte;
    listener = listen_tcp(&address);
    if (pipe(ends) != 0)
        return;
    pid_t server = child_of(serve_beside_sleeper, is_slow ? &address : NULL);
    (void)!read(ends[0], &byte, 1);
    connect_and_ask(server, &address);
}

void tcp_taken(void)
{
    ask_server_with_sleeper(1);
}

/* The worker waits as an idle one does: the sleeper still has nothing to do with the request. */
void tcp_taken_by_idle(void)
{
    ask_server_with_sleeper(0);
}

static void stop_self(void *data)
{
    (void)data;
    raise(SIGSTOP);
}

/* A shell or the like: waits for its child, which has inherited the pipe. */
static void wrap(void *data)
{
    (void)data;
    pid_t worker = child_of(stop_self, NULL);
    say("worker", worker);
    (void)!write(ends[1], "w", 1);
    waitpid(worker, NULL, 0);
}

void pipe_of_wrapper(void)
{
    char byte;
    if (pipe(ends) != 0)
        return;
    say("wrapper", child_of(wrap, NULL));
    close(ends[1]);
    (void)!read(ends[0], &byte, 1);
    soon_ready();
    (void)!read(ends[0], &byte, 1);
}

static void fill_output(void *data)
{
    const int *own = data, *other = own == ends ? parts : ends;
    char bytes[4096] = {0};
    close(own[0]);
    close(other[1]);
    while (write(own[1], bytes, sizeof(bytes)) > 0)
        ;
}

static void run_pipeline(void *data)
{
    (void)data;
    if (pipe(parts) != 0)
        return;
    child_of(fill_output, parts);
    say("second", child_of(fill_output, ends));
    for (int i = 0; i < 2; i++) {
        close(parts[i]);
        close(ends[i]);
    }
    while (wait(NULL) > 0)
        ;
}

/* Waits for a pipeline's end, and does not read its output. */
void pipeline(void)
{
    if (pipe(ends) != 0)
        return;
    pid_t shell = child_of(run_pipeline, NULL);
    say("shell", shell);
    close(ends[1]);
    soon_ready();
    waitpid(shell, NULL, 0);
}

/* The server does not even accept. */
void tcp_not_accepted(void)
{
    struct sockaddr_in address;
    listener = listen_tcp(&address);
    connect_and_ask(child_of(sleep_long, NULL), &address);
}

void unix_not_accepted(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(sa_family_t) + 1;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "argus-why-%d", getpid());
    length += (socklen_t)strlen(address.sun_path + 1);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 5) != 0)
        return;
    say("server", child_of(sleep_long, NULL));
    close(listener);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) != 0)
        return;
    soon_ready();
    ask(fd);
}

/* The server has ended; its child, which does not use the connection, keeps it open. */
static void keep_for_dead(void *data)
{
    int fd;
    (void)data;
    close(ends[0]);
    fd = fork();
    if (fd == 0) {
        work_slowly();
    }
    say("heir", fd);
    _exit(0);
}

void inherited(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    waitpid(child_of(keep_for_dead, NULL), NULL, 0);
    close(ends[1]);
    soon_ready();
    ask(ends[0]);
}

/* A server of which one thread is idle, and another one holds up what the client waits for. */
static void *idle_worker(void *data)
{
    (void)data;
    pthread_mutex_lock(&second);
    pthread_cond_wait(&changed, &second);
    return NULL;
}

static void serve_with_pool(void *data)
{
    pthread_t thread;
    (void)data;
    close(ends[0]);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, idle_worker, NULL);
    pthread_create(&thread, NULL, sleep_thread, NULL);
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, eventfd(0, 0), &event);
    epoll_wait(set, &event, 1, -1);
}

void pool(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    say("server", child_of(serve_with_pool, NULL));
    close(ends[1]);
    soon_ready();
    ask(ends[0]);
}

/* The same server, stopped as a whole. */
void stopped_pool(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    pid_t server = child_of(serve_with_pool, NULL);
    say("server", server);
    close(ends[1]);
    usleep(SETTLE_US);
    kill(server, SIGSTOP);
    soon_ready();
    ask(ends[0]);
}
