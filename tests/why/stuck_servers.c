/* Servers and their clients, in waits for several descriptors. */
#include "stuck.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t length;

static void listen_here(void)
{
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "argus-why-set-%d", getpid());
    length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(address.sun_path + 1));
    bind(listener, (struct sockaddr *)&address, length);
    listen(listener, 5);
}

static int connect_here(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&address, length);
    return fd;
}

static void poll_with_event(int fd)
{
    struct pollfd polled[] = {{fd, POLLIN, 0}, {eventfd(0, 0), POLLIN, 0}};
    poll(polled, 2, -1);
}

/* Through which a child tells that it is connected, if there is such a pipe. */
static int connected[2] = {-1, -1};

static void tell_connected(void)
{
    (void)!write(connected[1], "", 1);
}

static void await_connected(void)
{
    char byte;
    (void)!read(connected[0], &byte, 1);
}

static void accept_and_sleep(void *data)
{
    (void)data;
    accept(listener, NULL, NULL);
    tell_connected();
    work_slowly();
}

/* An event loop whose server has not read the request. */
void unread_in_set(void)
{
    listen_here();
    say("server", child_of(accept_and_sleep, NULL));
    close(listener);
    int fd = connect_here();
    (void)!write(fd, "question", 8);
    soon_ready();
    poll_with_event(fd);
}

/* An event loop whose server does not accept. */
void not_accepted_in_set(void)
{
    listen_here();
    say("server", child_of(sleep_long, NULL));
    close(listener);
    int fd = connect_here();
    soon_ready();
    poll_with_event(fd);
}

static void connect_and_sleep(void *data)
{
    (void)data;
    close(listener);
    connect_here();
    tell_connected();
    work_slowly();
}

/* A server that has nothing to do; its client does not read what it was sent. Nobody is to blame. */
void own_client_unread(void)
{
    listen_here();
    say("client", child_of(connect_and_sleep, NULL));
    int fd = accept(listener, NULL, NULL);
    (void)!write(fd, "event", 5);
    soon_ready();
    poll_with_event(fd);
}

/* An event loop that has asked nothing; its server, a compositor say, was stopped. */
void stopped_server(void)
{
    listen_here();
    (void)!pipe(connected);
    pid_t server = child_of(accept_and_sleep, NULL);
    say("server", server);
    close(listener);
    int fd = connect_here();
    await_connected();
    kill(server, SIGSTOP);
    soon_ready();
    poll_with_event(fd);
}

/* A server that has nothing to do; that its client was stopped does not hold it up. */
void stopped_client(void)
{
    listen_here();
    pid_t client = child_of(connect_and_sleep, NULL);
    int fd = accept(listener, NULL, NULL);
    usleep(SETTLE_US);
    kill(client, SIGSTOP);
    soon_ready();
    poll_with_event(fd);
}

/* A program that waits for clients, and for what its helpers may tell; that one was stopped does not hold it up. */
void stopped_helper(void)
{
    int ends[2];
    listen_here();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    pid_t helper = child_of(sleep_long, NULL);
    close(ends[1]);
    usleep(SETTLE_US);
    kill(helper, SIGSTOP);
    soon_ready();
    struct pollfd polled[] = {{.fd = listener, .events = POLLIN},
                              {.fd = ends[0], .events = POLLIN}};
    poll(polled, 2, -1);
}

/* Waits for data from the first of three clients only, as a grabbed X server does; or, with the flag EPOLLONESHOT in
 * `data`, as a server does whose threads serve the other two. */
static void serve_first(void *data)
{
    const uint32_t *flags = data;
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    for (int i = 0; i < 3; i++) {
        event.events = *flags | (i ? 0 : EPOLLIN);
        epoll_ctl(set, EPOLL_CTL_ADD, accept(listener, NULL, NULL), &event);
    }
    epoll_wait(set, &event, 1, -1);
}

static void wait_for_first(uint32_t flags)
{
    char byte;
    listen_here();
    (void)!pipe(connected);
    say("server", child_of(serve_first, &flags));
    say("holder", child_of(connect_and_sleep, NULL));
    await_connected();
    close(listener);
    connect_here();
    int fd = connect_here();
    (void)!write(fd, "question", 8);
    soon_ready();
    (void)!read(fd, &byte, 1);
}

void grabbed(void)
{
    wait_for_first(0);
}

/* The client from which the server reads is idle: it holds up nobody. */
void taken_once(void)
{
    wait_for_first(EPOLLONESHOT);
}

static void serve_one(void *data)
{
    (void)data;
    int fd = accept(listener, NULL, NULL);
    close(listener);
    poll_with_event(fd);
}

/* A server with a process for each client, which share memory. The one that serves `main` waits for
 * several descriptors, as if for a lock that the other one holds. */
void backends(void)
{
    listen_here();
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return;
    say("other", child_of(serve_one, NULL));
    say("client", child_of(connect_and_sleep, NULL));
    usleep(SETTLE_US);
    say("server", child_of(serve_one, NULL));
    close(listener);
    int fd = connect_here();
    char byte;
    soon_ready();
    (void)!read(fd, &byte, 1);
}
