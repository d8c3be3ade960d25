/* Servers and their clients, in waits for several descriptors. */
#include "stuck.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
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

static void accept_and_sleep(void *data)
{
    (void)data;
    accept(listener, NULL, NULL);
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

static void connect_and_sleep(void *data)
{
    (void)data;
    close(listener);
    connect_here();
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
