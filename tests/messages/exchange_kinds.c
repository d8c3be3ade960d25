/* The kinds of channels that exchange.c knows: how each is opened, and all the calls that send and receive through it. To add one:
 * its functions, and a row at the end. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "exchange.h"

static size_t total_of(const struct side *side, uint32_t count)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += side->sizes[i];
    return total;
}

/* Two parts, so that readv() and writev() have something to do. */
static void in_two(struct side *side, size_t bytes, struct iovec ret[2])
{
    size_t first = below(side, (uint32_t)(bytes / 8) + 1) * 8;
    ret[0] = (struct iovec){side->buffer, first};
    ret[1] = (struct iovec){side->buffer + first, bytes - first};
}

static ssize_t send_file(struct side *side, uint32_t count)
{
    size_t bytes = total_of(side, count);
    struct iovec parts[2];
    if (below(side, 2))
        return write(side->fd, side->buffer, bytes);
    in_two(side, bytes, parts);
    return writev(side->fd, parts, 2);
}

static ssize_t receive_file(struct side *side, size_t bytes, bool peek)
{
    (void)peek;
    struct iovec parts[2];
    in_two(side, bytes, parts);
    return below(side, 2) ? read(side->fd, side->buffer, bytes) : readv(side->fd, parts, 2);
}

static ssize_t send_batch(struct side *side, uint32_t count)
{
    struct mmsghdr headers[BATCH_MAX] = {0};
    struct iovec iov[BATCH_MAX];
    char *at = side->buffer;
    for (uint32_t i = 0; i < count; i++) {
        iov[i] = (struct iovec){at, side->sizes[i]};
        headers[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
        at += side->sizes[i];
    }
    int sent = sendmmsg(side->fd, headers, count, 0);
    size_t bytes = 0;
    for (int i = 0; i < sent; i++)
        bytes += headers[i].msg_len;
    return sent < 0 ? -1 : (ssize_t)bytes;
}

static ssize_t send_socket(struct side *side, uint32_t count)
{
    size_t bytes = total_of(side, count);
    struct iovec parts[2];
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
    if (count > 1)
        return send_batch(side, count);
    switch (below(side, 4)) {
    case 0:
        return write(side->fd, side->buffer, bytes);
    case 1:
        return send(side->fd, side->buffer, bytes, 0);
    case 2:
        in_two(side, bytes, parts);
        return sendmsg(side->fd, &header, 0);
    default:
        return send_batch(side, 1);
    }
}

/* recvmmsg() for one or two messages that are put together in the buffer. */
static ssize_t receive_batch(struct side *side, size_t bytes, int flags)
{
    struct mmsghdr headers[2] = {0};
    struct iovec iov[2];
    for (uint32_t i = 0; i < 2; i++) {
        iov[i] = (struct iovec){side->buffer + i * bytes, bytes};
        headers[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
    }
    unsigned int wanted = flags & MSG_PEEK ? 1 : 2;
    int got = recvmmsg(side->fd, headers, wanted, flags | MSG_WAITFORONE, NULL);
    if (got <= 0)
        return got;
    size_t first = headers[0].msg_len, second = got > 1 ? headers[1].msg_len : 0;
    memmove(side->buffer + first, side->buffer + bytes, second);
    return (ssize_t)(first + second);
}

static ssize_t receive_socket(struct side *side, size_t bytes, bool peek)
{
    int flags = peek ? MSG_PEEK : 0;
    struct iovec parts[2];
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
    switch (below(side, 4)) {
    case 0:
        if (!peek)
            return read(side->fd, side->buffer, bytes);
        return recv(side->fd, side->buffer, bytes, flags);
    case 1:
        return recv(side->fd, side->buffer, bytes, flags);
    case 2:
        in_two(side, bytes, parts);
        return recvmsg(side->fd, &header, flags);
    default:
        return receive_batch(side, bytes, flags);
    }
}

/* Datagrams are received whole, because the length of a truncated one would be unknown here. */
static ssize_t receive_whole(struct side *side, size_t bytes, bool peek)
{
    (void)bytes;
    return receive_socket(side, side->kind->largest, peek);
}

static ssize_t send_queue(struct side *side, uint32_t count)
{
    size_t bytes = total_of(side, count);
    return mq_send(side->fd, side->buffer, bytes, below(side, 4)) ? -1 : (ssize_t)bytes;
}

static ssize_t receive_queue(struct side *side, size_t bytes, bool peek)
{
    (void)peek;
    (void)bytes;
    unsigned int priority;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec++;
    return mq_timedreceive(side->fd, side->buffer, side->kind->largest, &priority, &deadline);
}

/* A receive without data returns after a while. */
static void set_timeout(int fd)
{
    struct timeval second = {.tv_sec = 1};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)))
        fail("SO_RCVTIMEO");
}

#define UNITS_END (16 * WRITERS)

/* A message of writer w adds 1 << 16 * w, so that the sum gives the number of messages of each
 * writer. */
static ssize_t send_units(struct side *side, uint32_t count)
{
    (void)count;
    uint64_t units = 1ull << 16 * side->writer;
    return write(side->fd, &units, sizeof(units));
}

static ssize_t receive_units(struct side *side, size_t bytes, bool peek)
{
    (void)bytes;
    (void)peek;
    uint64_t units;
    uint32_t *numbers = (uint32_t *)side->buffer;
    if (read(side->fd, &units, sizeof(units)) < 0)
        return -1;
    side->is_over = units >> UNITS_END;
    size_t count = 0;
    for (uint32_t writer = 0; writer < WRITERS; writer++) {
        for (uint32_t i = 0; i < (uint16_t)(units >> 16 * writer); i++, side->next[writer]++) {
            numbers[count++] = unit(writer, side->next[writer], 0);
            numbers[count++] = unit(writer, side->next[writer], UNIT);
        }
    }
    return (ssize_t)count * UNIT;
}

static void finish_units(struct side *side)
{
    uint64_t units = 1ull << UNITS_END;
    if (write(side->fd, &units, sizeof(units)) != sizeof(units))
        fail("write");
}

static void open_eventfd(int ret_fds[2])
{
    ret_fds[0] = eventfd(0, 0);
    ret_fds[1] = dup(ret_fds[0]);
    if (ret_fds[0] < 0 || ret_fds[1] < 0)
        fail("eventfd");
}

static void open_pipe(int ret_fds[2])
{
    if (pipe(ret_fds))
        fail("pipe");
}

static void open_fifo(int ret_fds[2])
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/exchange.%d", (int)getpid());
    if (mkfifo(path, 0600) || (ret_fds[0] = open(path, O_RDONLY | O_NONBLOCK)) < 0 ||
        (ret_fds[1] = open(path, O_WRONLY)) < 0)
        fail(path);
    fcntl(ret_fds[0], F_SETFL, 0);
    unlink(path);
}

static void open_unix(int type, int ret_fds[2])
{
    if (socketpair(AF_UNIX, type, 0, ret_fds))
        fail("socketpair");
}

static void open_stream(int ret_fds[2])
{
    open_unix(SOCK_STREAM, ret_fds);
}

static void open_seqpacket(int ret_fds[2])
{
    open_unix(SOCK_SEQPACKET, ret_fds);
}

static void open_datagram(int ret_fds[2])
{
    open_unix(SOCK_DGRAM, ret_fds);
    set_timeout(ret_fds[0]);
}

static void open_inet(int type, int ret_fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, type, 0), large = 1 << 20;
    ret_fds[1] = socket(AF_INET, type, 0);
    /* Segments of 4096 bytes with 12 of options: where a writer is interrupted by another, a number is seldom torn apart. */
    int segment = 4096 + 12;
    if (type == SOCK_STREAM &&
        (setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment)) ||
         setsockopt(ret_fds[1], IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment))))
        fail("TCP_MAXSEG");
    if (listener < 0 || bind(listener, (void *)&address, size) ||
        getsockname(listener, (void *)&address, &size) ||
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &large, sizeof(large)) ||
        (type == SOCK_STREAM && listen(listener, 1)) || connect(ret_fds[1], (void *)&address, size))
        fail("connect");
    ret_fds[0] = type == SOCK_STREAM ? accept(listener, NULL, NULL) : listener;
    if (type == SOCK_STREAM)
        close(listener);
}

static void open_tcp(int ret_fds[2])
{
    open_inet(SOCK_STREAM, ret_fds);
}

static void open_udp(int ret_fds[2])
{
    open_inet(SOCK_DGRAM, ret_fds);
    set_timeout(ret_fds[0]);
}

static void open_queue(int ret_fds[2])
{
    char name[64];
    snprintf(name, sizeof(name), "/exchange.%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = 4096};
    ret_fds[0] = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    ret_fds[1] = dup(ret_fds[0]);
    if (ret_fds[0] < 0 || ret_fds[1] < 0)
        fail(name);
    mq_unlink(name);
}

#define ANY (1ull << 40) /* the channel itself makes the writers wait */

const struct kind kinds[] = {
    {"pipe", 4096, 8192, ANY, false, false, open_pipe, send_file, receive_file, NULL},
    {"fifo", 4096, 8192, ANY, false, false, open_fifo, send_file, receive_file, NULL},
    {"unix_stream", 60000, 80000, ANY, true, true, open_stream, send_socket, receive_socket, NULL},
    {"unix_seqpacket", 8192, 8192, ANY, true, true, open_seqpacket, send_socket, receive_whole,
     NULL},
    {"unix_datagram", 8192, 8192, 100000, true, true, open_datagram, send_socket, receive_whole,
     NULL},
    {"tcp", 20000, 30000, ANY, true, true, open_tcp, send_socket, receive_socket, NULL},
    {"udp", 8192, 8192, 50000, true, true, open_udp, send_socket, receive_whole, NULL},
    {"eventfd", 8, 8, 80000, false, false, open_eventfd, send_units, receive_units, finish_units},
    {"mqueue", 4096, 4096, ANY, false, false, open_queue, send_queue, receive_queue, NULL},
};
const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);
