/* The other side of outlet.h. It runs in a copy of the recorder, so its first act is to close what
 * it need not have: a BPF link or the recorder's lock that stayed open here would outlive the
 * recorder. Then it gives up its rights: whoever opened the file could write to it, and this
 * process can do nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "platform.h"
#include "protocol.h"
#include "server/clocks.h"
#include "server/outlet_queue.h"
#include "trace/file.h"

#define CONTROL 3 /* descriptors in this process, behind the standard ones */
#define SOURCE  4

struct writing {
    struct outlet_queue *queue;
    int fd;        /* -1: closed */
    uint64_t size; /* of the file, as far as it was written */
};

/* The sender of the descriptor has opened the file, so it may write to the file whoever owns it.
 * The file must store data, and must not be a set-user-ID program, because such a program loses
 * that bit when a user writes to it but not when root does. */
static struct argus_error *check_output(int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (fstat(fd, &status) < 0 || flags < 0)
        return argus_error_os(errno, "cannot examine the output file");
    if (!S_ISREG(status.st_mode) || status.st_mode & (S_ISUID | S_ISGID) || status.st_size != 0 ||
        (flags & O_ACCMODE) == O_RDONLY || flags & (O_APPEND | O_PATH) || !platform_keeps_files(fd))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the output is not an empty regular file open for writing");
    return NULL;
}

/* Leaves this process with the standard descriptors, CONTROL and SOURCE. */
static bool keep_two(int control, int source)
{
    int high_control = fcntl(control, F_DUPFD, SOURCE + 1);
    int high_source = fcntl(source, F_DUPFD, SOURCE + 1);
    if (dup2(high_control, CONTROL) < 0 || dup2(high_source, SOURCE) < 0)
        return false;
    platform_close_from(SOURCE + 1);
    return true;
}

/* In a session of its own Ctrl-C does not reach it, and while a file system holds it, it keeps no
 * terminal or pipe of its maker's open. */
static void leave_terminal(void)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    for (int fd = 0; fd < CONTROL && nothing >= 0; fd++)
        dup2(nothing, fd);
    if (nothing > SOURCE)
        close(nothing);
}

static struct argus_error *receive_file(int *ret_fd)
{
    char bytes[sizeof(struct request) + 1];
    size_t length;
    struct argus_error *error = message_receive(SOURCE, bytes, sizeof(bytes), &length, ret_fd);
    close(SOURCE);
    if (!error && *ret_fd < 0)
        error = argus_error_create(ARGUS_ERROR_USAGE, "no file came with the request");
    return error;
}

/* A write over the limit then fails with EFBIG instead of ending the process. */
static uint64_t raise_file_limit(void)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGXCPU, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return UINT64_MAX;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static bool say_hello(int fd, uint64_t file_size, struct argus_error *error)
{
    struct outlet_hello hello = {.file = fd, .file_size = file_size};
    if (error) {
        hello.error = 1 + (uint32_t)error->code;
        snprintf(hello.text, sizeof(hello.text), "%s", error->message);
    }
    return send(CONTROL, &hello, sizeof(hello), 0) == sizeof(hello) && !error;
}

static void fail(struct writing *writing, int failed, uint64_t offset)
{
    atomic_store(&writing->queue->failed_offset, offset);
    atomic_store(&writing->queue->failed, (uint32_t)failed);
}

/* A file that grows ends with a whole chunk even if the disk is full. */
static void write_bytes(struct writing *writing, const struct outlet_order *order,
                        const void *bytes)
{
    int failed = file_write(writing->fd, bytes, order->length, order->offset);
    if (!failed) {
        if (order->offset + order->length > writing->size)
            writing->size = order->offset + order->length;
        return;
    }
    /* if this fails as well, the reader will report damage at the end */
    bool cut = order->offset + order->length > writing->size &&
               ftruncate(writing->fd, (off_t)order->chunk_offset) == 0;
    (void)cut;
    fail(writing, failed, order->chunk_offset);
}

static void resize(struct writing *writing, uint64_t bytes)
{
    if (ftruncate(writing->fd, (off_t)bytes) < 0)
        fail(writing, errno, bytes);
    writing->size = bytes;
}

static void look_at_name(const struct writing *writing)
{
    struct stat status;
    if (writing->fd >= 0 && fstat(writing->fd, &status) == 0)
        atomic_store(&writing->queue->gone, status.st_nlink == 0);
}

static void close_file(struct writing *writing)
{
    look_at_name(writing);
    if (writing->fd >= 0 && close(writing->fd) < 0 && errno != EINTR)
        fail(writing, errno, writing->size);
    writing->fd = -1;
}

static void obey(struct writing *writing, const struct outlet_order *order, const void *bytes)
{
    if (atomic_load(&writing->queue->failed) || writing->fd < 0)
        return;
    if (order->kind == OUTLET_WRITE)
        write_bytes(writing, order, bytes);
    else if (order->kind == OUTLET_RESIZE)
        resize(writing, order->offset);
    else if (order->kind == OUTLET_CLOSE)
        close_file(writing);
}

/* Takes what is queued. */
static void take_orders(struct writing *writing)
{
    struct outlet_queue *queue = writing->queue;
    uint64_t taken = atomic_load(&queue->taken);
    while (taken != atomic_load(&queue->put)) {
        uint64_t place = taken % OUTLET_ROOM;
        const struct outlet_order *order = (const void *)(queue->data + place);
        obey(writing, order, order + 1);
        taken += order->kind == OUTLET_SKIP ? OUTLET_ROOM - place : outlet_extent(order->length);
        atomic_store(&queue->taken, taken);
        atomic_store(&queue->cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    }
}

/* Ends when the recorder closes its end of the socket, or has died: then what is queued is written
 * first. Each byte that arrives means that there are new orders. */
static void serve(struct writing *writing)
{
    char calls[64];
    ssize_t got;
    do {
        got = recv(CONTROL, calls, sizeof(calls), 0);
        take_orders(writing);
        look_at_name(writing);
    } while (got > 0 || (got < 0 && errno == EINTR));
}

_Noreturn void outlet_process(const struct outlet_source *source, uid_t uid, int control,
                              struct outlet_queue *queue)
{
    struct writing writing = {.queue = queue, .fd = SOURCE};
    if (!keep_two(control, source->socket >= 0 ? source->socket : source->fd))
        _exit(1);
    leave_terminal();
    platform_real_time(false);
    platform_name_process("argus-writer");
    uint64_t file_size = raise_file_limit();
    platform_drop_rights(uid);
    struct argus_error *error = source->socket >= 0 ? receive_file(&writing.fd) : NULL;
    if (!error)
        error = check_output(writing.fd);
    if (!say_hello(writing.fd, file_size, error))
        _exit(1);
    platform_confine(PLATFORM_WRITING);
    serve(&writing);
    _exit(0);
}
