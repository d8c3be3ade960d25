/* Exchanges messages and logs the true sends and receives, for check_pairs.py.
 *
 * exchange KIND LOG [COUNT]: COUNT messages of random sizes through one channel of the kind. There
 * are three writers: a thread, a child that inherited the descriptor, and a process that got it
 * over a unix socket and duplicated it. They use all calls that the kind has; the reader asks for
 * random sizes and sometimes only looks (MSG_PEEK).
 *
 * Each 4 bytes of a message are a number that tells writer, message and place in it, so a reader of
 * any part of a message can identify it. They have 4 bytes because TCP may let another writer
 * continue in the middle of 8: a segment that ends at the receiver's window is cut at a multiple of
 * 4. A line of the log is one call:
 *
 *   S|R|P TID BEFORE AFTER RUN…    sent, received, peeked; CLOCK_MONOTONIC in ns before and after the call
 *   RUN = WRITER.MESSAGE.OFFSET+BYTES, in the order of the stream
 */
#include "exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "exchange: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint32_t below(struct side *side, uint32_t limit)
{
    side->random = side->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((side->random >> 33) % limit);
}

uint32_t unit(uint32_t writer, uint32_t message, uint32_t offset)
{
    return writer << 30 | message << 16 | offset / UNIT;
}

static void fill(uint32_t *numbers, uint32_t writer, uint32_t message, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes / UNIT; i++)
        numbers[i] = unit(writer, message, i * UNIT);
}

/* `number` is that of the first unit, of which `skipped` bytes are not in the run. */
static void log_run(struct side *side, uint32_t number, size_t skipped, size_t bytes)
{
    fprintf(side->log, " %u.%u.%zu+%zu", number >> 30, number >> 16 & (MESSAGE_MOST - 1),
            (size_t)(number & 0xffff) * UNIT + skipped, bytes);
}

/* Writes the runs that `bytes` at `numbers` consist of. */
static void log_runs(struct side *side, const uint32_t *numbers, size_t bytes)
{
    for (size_t i = 0; i < bytes / UNIT;) {
        size_t first = i++;
        while (i < bytes / UNIT && numbers[i] == numbers[first] + (i - first))
            i++;
        log_run(side, numbers[first], 0, (i - first) * UNIT);
    }
}

static void log_begin(struct side *side, char what, uint64_t before)
{
    fprintf(side->log, "%c %d %llu %llu", what, (int)syscall(SYS_gettid),
            (unsigned long long)before, (unsigned long long)now_ns());
}

/* Limits the data in flight: more than the receiver has room for would be dropped (udp) or is not
 * needed. */
static void wait_for_room(struct side *side)
{
    while (atomic_load(&side->shared->sent) - atomic_load(&side->shared->received) >
           side->kind->in_flight)
        sched_yield();
}

/* One call, with one or several messages; returns how many. */
static uint32_t send_some(struct side *side, uint32_t message, uint32_t room)
{
    const struct kind *kind = side->kind;
    uint32_t count = kind->batch && room > 1 ? 1 + below(side, 4) : 1;
    if (count > room)
        count = room;
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = 8 + below(side, kind->largest / 8) * 8;
        fill((uint32_t *)(side->buffer + total), side->writer, message + i, bytes);
        side->sizes[i] = bytes;
        total += bytes;
    }
    wait_for_room(side);
    uint64_t before = now_ns();
    ssize_t sent = kind->send(side, count);
    if (sent < 0)
        fail("send");
    log_begin(side, 'S', before);
    log_runs(side, (uint32_t *)side->buffer, (size_t)sent);
    fputc('\n', side->log);
    atomic_fetch_add(&side->shared->sent, (uint64_t)sent);
    for (size_t at = (size_t)sent; at < total;) { /* a stream took a part */
        before = now_ns();
        ssize_t more = write(side->fd, side->buffer + at, total - at);
        if (more < 0)
            fail("write");
        log_begin(side, 'S', before);
        log_runs(side, (uint32_t *)(side->buffer + at), (size_t)more);
        fputc('\n', side->log);
        atomic_fetch_add(&side->shared->sent, (uint64_t)more);
        at += (size_t)more;
    }
    return count;
}

static void *writer_main(void *context)
{
    struct side *side = context;
    for (uint32_t message = 0; message < side->count;)
        message += send_some(side, message, side->count - message);
    return NULL;
}

/* Datagrams have no end of file. */
static bool is_over(struct shared *shared)
{
    return atomic_load(&shared->writers) == 0 &&
           atomic_load(&shared->received) >= atomic_load(&shared->sent);
}

/* TCP can end in the middle of a number: the rest is read at once, to know which number it is. */
static ssize_t read_rest(struct side *side, size_t received)
{
    size_t part = received % UNIT;
    if (part == 0)
        return 0;
    char *begin = side->buffer + received - part;
    uint64_t before = now_ns();
    if (recv(side->fd, begin + part, UNIT - part, MSG_WAITALL) != (ssize_t)(UNIT - part))
        fail("recv");
    uint32_t number;
    memcpy(&number, begin, sizeof(number));
    log_run(side, number, 0, part);
    fputc('\n', side->log);
    log_begin(side, 'R', before);
    log_run(side, number, part, UNIT - part);
    return (ssize_t)(UNIT - part);
}

static void reader_main(struct side *side)
{
    while (!side->is_over) {
        size_t bytes = 8 + below(side, side->kind->largest_read / 8) * 8;
        bool peek = side->kind->peek && below(side, 8) == 0;
        uint64_t before = now_ns();
        ssize_t received = side->kind->receive(side, bytes, peek);
        bool waited = received < 0 && (errno == EAGAIN || errno == ETIMEDOUT);
        if (received < 0 && !waited)
            fail("receive");
        if (received == 0 || (waited && is_over(side->shared)))
            return;
        if (waited)
            continue;
        log_begin(side, peek ? 'P' : 'R', before);
        log_runs(side, (uint32_t *)side->buffer, (size_t)received);
        if (!peek)
            received += read_rest(side, (size_t)received);
        fputc('\n', side->log);
        if (!peek)
            atomic_fetch_add(&side->shared->received, (uint64_t)received);
    }
}

static struct side *side_create(const struct kind *kind, struct shared *shared, uint32_t writer,
                                int fd, const char *path, uint32_t count)
{
    struct side *side = calloc(1, sizeof(*side));
    char name[4096];
    snprintf(name, sizeof(name), "%s.%u", path, writer);
    if (!side || !(side->log = fopen(name, "w")))
        fail(name);
    side->buffer = calloc(1, BUFFER_BYTES);
    *side = (struct side){.kind = kind,
                          .shared = shared,
                          .writer = writer,
                          .fd = fd,
                          .count = count,
                          .random = 99991 * (writer + 1),
                          .log = side->log,
                          .buffer = side->buffer};
    return side;
}

static void side_finish(struct side *side)
{
    if (fclose(side->log))
        fail("log");
    free(side->buffer);
    free(side);
}

static void end_writing(struct side *side)
{
    if (atomic_fetch_sub(&side->shared->writers, 1) == 1 && side->kind->finish)
        side->kind->finish(side);
}

/* A writer in a separate process, which exits afterwards. */
static _Noreturn void write_and_exit(struct side *side)
{
    writer_main(side);
    end_writing(side);
    side_finish(side);
    _exit(0);
}

/* A process that has closed everything, and gets the descriptor over a unix socket. */
static pid_t start_with_passed_descriptor(struct side *side)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
        fail("socketpair");
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
    struct iovec iov = {&byte, 1};
    struct msghdr header = {.msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control)};
    pid_t child = fork();
    if (child == 0) {
        close(side->fd);
        if (recvmsg(pair[1], &header, 0) != 1 || !CMSG_FIRSTHDR(&header))
            fail("recvmsg");
        int passed;
        memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(passed));
        side->fd = dup(passed);
        close(passed);
        write_and_exit(side);
    }
    struct cmsghdr *message = CMSG_FIRSTHDR(&header);
    message->cmsg_level = SOL_SOCKET;
    message->cmsg_type = SCM_RIGHTS;
    message->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(message), &side->fd, sizeof(int));
    if (sendmsg(pair[0], &header, 0) != 1)
        fail("sendmsg");
    close(pair[0]);
    close(pair[1]);
    return child;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < kind_count; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    fprintf(stderr, "exchange: there is no kind %s\n", name);
    exit(2);
}

static void exchange(const struct kind *kind, const char *path, uint32_t count)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("mmap");
    int fds[2];
    kind->open(fds);
    uint32_t each = count / WRITERS;
    struct side *writers[WRITERS];
    for (uint32_t i = 0; i < WRITERS; i++)
        writers[i] = side_create(kind, shared, i, fds[1], path, each);
    struct side *reader = side_create(kind, shared, WRITERS, fds[0], path, 0);
    atomic_store(&shared->writers, WRITERS);

    pid_t heir = fork();
    if (heir == 0)
        write_and_exit(writers[0]);
    start_with_passed_descriptor(writers[1]);
    pid_t parent = fork();
    if (parent == 0) { /* with a thread, so that one process has a reader's and a writer's end */
        close(fds[0]);
        pthread_t thread;
        if (pthread_create(&thread, NULL, writer_main, writers[2]))
            fail("pthread_create");
        pthread_join(thread, NULL);
        end_writing(writers[2]);
        side_finish(writers[2]);
        _exit(0);
    }
    for (uint32_t i = 0; i < WRITERS; i++)
        side_finish(writers[i]);
    close(fds[1]);
    reader_main(reader);
    side_finish(reader);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: exchange KIND LOG [COUNT]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    uint32_t count = argc > 3 ? (uint32_t)atoi(argv[3]) : 10000;
    if (count / WRITERS > MESSAGE_MOST) {
        fprintf(stderr, "exchange: at most %d messages\n", WRITERS * MESSAGE_MOST);
        return 2;
    }
    exchange(find_kind(argv[1]), argv[2], count);
    return 0;
}
