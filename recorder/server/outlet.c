/* The recorder's side of outlet.h. The other process has fewer rights, so its numbers are checked
 * before they are used. */
#include "server/outlet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform.h"
#include "server/clocks.h"
#include "server/outlet_queue.h"

#define PATIENCE_NS 10000000000ull /* without any progress */
#define HURRIED_NS  1000000000ull  /* the same after a signal to end */
#define TURN_MS     20
#define GONE_TRIES  50 /* of a millisecond */
#define REMOVED     " (deleted)"
#define BEHIND      (OUTLET_ROOM / 4)
/* While nothing is queued, orders begin at the start of the ring again after this many bytes. So a
 * file system that keeps up costs little memory. */
#define REUSE_AFTER (4u << 20)

struct outlet {
    pid_t pid;
    int control;
    int file;         /* the number of its descriptor */
    const char *what; /* borrowed */
    struct outlet_waiter waiter;
    struct outlet_queue *queue;
    uint64_t put;                  /* this side's own copy */
    uint64_t skip_end, skip_bytes; /* of the last OUTLET_SKIP */
    uint64_t seen_taken;           /* at the last look … */
    uint64_t progress_ns;          /* … and when it last changed, or the queue was empty */
    uint64_t file_size;            /* limit */
    char path[PATH_MAX];           /* of the file, at the last look */
    bool ended, given_up, interrupted, corrupt;
};

/* Bytes that are queued. */
static uint64_t queued(const struct outlet *outlet)
{
    uint64_t taken = atomic_load(&outlet->queue->taken);
    return taken <= outlet->put && outlet->put - taken <= OUTLET_ROOM ? outlet->put - taken : 0;
}

/* Looks how far the process is. */
static void look(struct outlet *outlet)
{
    uint64_t taken = atomic_load(&outlet->queue->taken);
    outlet->corrupt |= taken > outlet->put || outlet->put - taken > OUTLET_ROOM;
    if (taken != outlet->seen_taken || taken == outlet->put)
        outlet->progress_ns = clock_ns(TRACE_CLOCK);
    outlet->seen_taken = taken;
}

uint64_t outlet_waiting_ns(const struct outlet *outlet)
{
    return queued(outlet) ? clock_ns(TRACE_CLOCK) - outlet->progress_ns : 0;
}

bool outlet_is_behind(const struct outlet *outlet)
{
    bool skips = atomic_load(&outlet->queue->taken) < outlet->skip_end;
    return queued(outlet) > BEHIND + (skips ? outlet->skip_bytes : 0);
}

static struct argus_error *write_error(const struct outlet *outlet, int failed)
{
    uint64_t offset = atomic_load(&outlet->queue->failed_offset);
    if (failed == EFBIG && outlet->file_size != UINT64_MAX)
        return argus_error_create(ARGUS_ERROR_IO,
                                  "cannot write %s at offset %" PRIu64
                                  ": files of this process may have %" PRIu64 " bytes (ulimit -f)",
                                  outlet->what, offset, outlet->file_size);
    return argus_error_os(failed, "cannot write %s at offset %" PRIu64, outlet->what, offset);
}

struct argus_error *outlet_check(const struct outlet *outlet)
{
    int failed = (int)atomic_load(&outlet->queue->failed);
    if (failed)
        return write_error(outlet, failed);
    if (outlet->interrupted)
        return argus_error_create(ARGUS_ERROR_INTERRUPTED,
                                  "writing %s was ended: its file system took nothing",
                                  outlet->what);
    if (outlet->given_up)
        return argus_error_create(ARGUS_ERROR_IO,
                                  "the file system of %s has taken nothing for %llu s: "
                                  "%llu bytes are not written",
                                  outlet->what, PATIENCE_NS / 1000000000ull,
                                  (unsigned long long)queued(outlet));
    if (outlet->ended || outlet->corrupt)
        return argus_error_create(ARGUS_ERROR_IO, "the process that writes %s (pid %d) was ended",
                                  outlet->what, (int)outlet->pid);
    return NULL;
}

/* Waits a moment. False: there is no use in waiting any longer. */
static bool wait_once(struct outlet *outlet)
{
    struct pollfd polled = {.fd = outlet->control, .events = POLLIN};
    bool goes_on = true;
    if (outlet->waiter.wait)
        goes_on = outlet->waiter.wait(outlet->waiter.context, TURN_MS);
    uint64_t idle_ns = clock_ns(TRACE_CLOCK) - outlet->progress_ns;
    outlet->interrupted |= !goes_on && idle_ns > HURRIED_NS;
    if (poll(&polled, 1, outlet->waiter.wait ? 0 : TURN_MS) > 0)
        outlet->ended |= polled.revents & (POLLHUP | POLLERR);
    look(outlet);
    outlet->given_up |= clock_ns(TRACE_CLOCK) - outlet->progress_ns > PATIENCE_NS;
    return !outlet->interrupted && !outlet->ended && !outlet->given_up && !outlet->corrupt &&
           !atomic_load(&outlet->queue->failed);
}

void outlet_serve(const struct outlet *outlet)
{
    if (outlet->waiter.wait)
        outlet->waiter.wait(outlet->waiter.context, 0);
}

/* The process sleeps until it is called. If the socket is full, it has been. */
static void call(const struct outlet *outlet)
{
    send(outlet->control, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void put_order(struct outlet *outlet, const struct outlet_order *order, const void *bytes)
{
    uint64_t place = outlet->put % OUTLET_ROOM;
    memcpy(outlet->queue->data + place, order, sizeof(*order));
    if (bytes)
        memcpy(outlet->queue->data + place + sizeof(*order), bytes, order->length);
    outlet->put += order->kind == OUTLET_SKIP ? OUTLET_ROOM - place : outlet_extent(order->length);
    atomic_store(&outlet->queue->put, outlet->put);
}

static void skip_rest(struct outlet *outlet)
{
    const struct outlet_order skip = {.kind = OUTLET_SKIP};
    uint64_t begin = outlet->put;
    if (begin % OUTLET_ROOM)
        put_order(outlet, &skip, NULL);
    outlet->skip_end = outlet->put;
    outlet->skip_bytes = outlet->put - begin;
}

/* Makes room for an order in one piece. Always leaves room for the header of an OUTLET_SKIP. */
static bool make_room(struct outlet *outlet, uint64_t extent)
{
    look(outlet);
    uint64_t place = outlet->put % OUTLET_ROOM;
    bool unused = queued(outlet) == 0 && place > REUSE_AFTER;
    bool split = OUTLET_ROOM - place < extent + sizeof(struct outlet_order);
    if ((unused || split) && OUTLET_ROOM - queued(outlet) >= OUTLET_ROOM - place)
        skip_rest(outlet);
    else if (split)
        return false;
    return OUTLET_ROOM - queued(outlet) >= extent + sizeof(struct outlet_order);
}

/* Queues an order; waits for room. 0 or an errno. */
static int queue_order(struct outlet *outlet, const struct outlet_order *order, const void *bytes)
{
    while (!make_room(outlet, outlet_extent(order->length))) {
        call(outlet);
        if (!wait_once(outlet))
            break;
    }
    struct argus_error *error = outlet_check(outlet);
    if (error) {
        int failed = (int)atomic_load(&outlet->queue->failed);
        argus_error_destroy(error);
        return failed ? failed : EIO;
    }
    put_order(outlet, order, bytes);
    call(outlet);
    return 0;
}

static int outlet_write(void *context, const void *bytes, size_t length, uint64_t offset)
{
    int failed = 0;
    for (size_t done = 0; done < length && !failed;) {
        size_t piece = length - done < OUTLET_PIECE ? length - done : OUTLET_PIECE;
        struct outlet_order order = {
            .kind = OUTLET_WRITE,
            .offset = offset + done,
            .chunk_offset = offset,
            .length = (uint32_t)piece,
        };
        failed = queue_order(context, &order, (const char *)bytes + done);
        done += piece;
    }
    return failed;
}

static int outlet_resize(void *context, uint64_t bytes)
{
    struct outlet_order order = {.kind = OUTLET_RESIZE, .offset = bytes};
    return queue_order(context, &order, NULL);
}

struct argus_output outlet_output(struct outlet *outlet)
{
    return (struct argus_output){outlet_write, outlet_resize, outlet};
}

/* Once the process has closed the file, the path is that of the last look. */
static void look_at_path(struct outlet *outlet)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)outlet->pid, outlet->file);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    memcpy(outlet->path, path, (size_t)length + 1);
}

/* The kernel marks the path of a file that was removed, and so may be the name of one that was not:
 * the process looks at the file itself, if its file system lets it. */
static void look_for_file(struct outlet *outlet)
{
    size_t length = strlen(outlet->path), mark = strlen(REMOVED);
    bool marked = length > mark && strcmp(outlet->path + length - mark, REMOVED) == 0;
    for (int tries = 0; marked && tries < GONE_TRIES && !atomic_load(&outlet->queue->gone);
         tries++) {
        call(outlet);
        poll(NULL, 0, 1);
    }
}

struct argus_error *outlet_finish(struct outlet *outlet)
{
    const struct outlet_order order = {.kind = OUTLET_CLOSE};
    look_at_path(outlet);
    queue_order(outlet, &order, NULL); /* outlet_check() has the reason of a failure */
    while (queued(outlet) && wait_once(outlet))
        ;
    return outlet_check(outlet);
}

void outlet_path(struct outlet *outlet, char *ret, size_t room, bool *ret_gone)
{
    look_at_path(outlet);
    look_for_file(outlet);
    snprintf(ret, room, "%s", outlet->path);
    *ret_gone = atomic_load(&outlet->queue->gone) != 0;
}

uint64_t outlet_cpu_ns(const struct outlet *outlet)
{
    return atomic_load(&outlet->queue->cpu_ns);
}

/* --- its life --- */

static bool start_process(struct outlet *outlet, const struct outlet_source *source, uid_t uid)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return false;
    outlet->control = ends[0];
    platform_close_on_exec(ends[0]);
    outlet->pid = fork();
    if (outlet->pid == 0)
        outlet_process(source, uid, ends[1], outlet->queue);
    int failed = errno;
    close(ends[1]);
    errno = failed;
    return outlet->pid > 0;
}

/* Without a hello, the message with the descriptor may still be in the socket. */
static struct argus_error *hear_hello(struct outlet *outlet, const struct outlet_source *source)
{
    struct outlet_hello hello;
    ssize_t got;
    outlet->progress_ns = clock_ns(TRACE_CLOCK);
    outlet->put = 1; /* so that the process counts as waited for */
    bool goes_on = true;
    do { /* once more after its end: a process that refuses says why, and ends at once */
        bool last = !goes_on;
        got = recv(outlet->control, &hello, sizeof(hello), MSG_DONTWAIT);
        bool none = got < 0 && (errno == EAGAIN || errno == EINTR);
        if (!none || last)
            break;
        goes_on = wait_once(outlet);
    } while (true);
    outlet->put = 0;
    if (got != sizeof(hello)) {
        if (source->socket >= 0)
            platform_drop(source->socket);
        struct argus_error *error = outlet_check(outlet);
        return error ? error
                     : argus_error_create(ARGUS_ERROR_IO, "cannot start the process that writes");
    }
    outlet->ended = false;
    outlet->file = hello.file;
    outlet->file_size = hello.file_size;
    hello.text[sizeof(hello.text) - 1] = '\0';
    if (hello.error == 0)
        return NULL;
    return argus_error_create(hello.error <= 1 + ARGUS_ERROR_QUESTION
                                  ? (enum argus_error_code)(hello.error - 1)
                                  : ARGUS_ERROR_IO,
                              "%s", hello.text);
}

struct argus_error *outlet_create(const struct outlet_source *source, uid_t uid,
                                  const struct outlet_waiter *waiter, struct outlet **ret)
{
    struct argus_error *error = NULL;
    struct outlet *outlet = calloc(1, sizeof(*outlet));
    if (!outlet)
        return argus_error_memory();
    outlet->control = -1;
    outlet->what = source->what ? source->what : "the trace";
    outlet->waiter = waiter ? *waiter : (struct outlet_waiter){0};
    outlet->queue = mmap(NULL, sizeof(*outlet->queue), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (outlet->queue == MAP_FAILED) {
        outlet->queue = NULL;
        error = argus_error_memory();
    }
    if (!error && !start_process(outlet, source, uid))
        error = argus_error_os(errno, "cannot start the process that writes %s", outlet->what);
    if (source->socket < 0)
        close(source->fd);
    if (!error)
        error = hear_hello(outlet, source);
    if (error)
        outlet_destroy(outlet);
    else
        *ret = outlet;
    return error;
}

static bool outlet_is_abandoned(const struct outlet *outlet)
{
    return outlet->given_up || outlet->interrupted || outlet->corrupt;
}

/* The process writes what is queued and ends. One that was given up is killed: the user was told
 * that the file is incomplete. It ends when the file system lets go of it, and is then init's. */
void outlet_destroy(struct outlet *outlet)
{
    if (!outlet)
        return;
    if (outlet->control >= 0)
        close(outlet->control);
    if (outlet->pid > 0 && outlet_is_abandoned(outlet))
        kill(outlet->pid, SIGKILL);
    for (int tries = 0; outlet->pid > 0 && tries < 100; tries++) {
        if (waitpid(outlet->pid, NULL, WNOHANG) != 0)
            break;
        poll(NULL, 0, 2);
    }
    if (outlet->queue)
        munmap(outlet->queue, sizeof(*outlet->queue));
    free(outlet);
}
