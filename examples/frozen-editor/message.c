#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

bool message_send(int fd, const void *message, size_t size)
{
    const char *at = message;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EPIPE)
            return false;
        if (sent < 0)
            fail("send");
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool message_receive(int fd, void *message, size_t size)
{
    char *at = message;
    while (size > 0) {
        ssize_t got = recv(fd, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return false;
        if (got < 0)
            fail("recv");
        at += got;
        size -= (size_t)got;
    }
    return true;
}

int message_fd_argument(int argc, char **argv, int index)
{
    if (index >= argc) {
        fprintf(stderr, "%s is started by frozen-editor\n", argv[0]);
        exit(2);
    }
    return atoi(argv[index]);
}

uint64_t message_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
