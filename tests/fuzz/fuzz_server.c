/* The recorder's server against all kinds of clients: it must not crash, leak, keep a descriptor,
 * or write to one that was not passed for writing. It runs here without root, over a backend with
 * invented records.
 *
 * The input is a program of one letter for each step; other letters do nothing, so every input is a
 * program:
 *
 *   R S O    connects a client: root, the user who started the recorder, another user; it becomes
 *            the current client
 *   0 … 9    the client of this number is the current one
 *   f l a s i q d n p m    passed with the next message: an empty file, one that is read-only, for
 *            appending, set-user-ID, with data in it; a pipe, a directory, /dev/null, a file of
 *            /proc, seven descriptors at once
 *   M F G    start: in memory, into a file, into a ring file
 *   +        the next start is owned by its connection
 *   P N T C E W D    stop, snapshot, status, cpus, notes, watch, watched
 *   B A      a probe, which makes sense with `i`; a probe that is absent
 *   v B      a request with the verb B (the next byte)
 *   y A B    in the next request, the byte at A * 5 is B (the next two bytes)
 *   x L …    sends L bytes (L is the next byte) unchanged
 *   r        reads the server's messages to the current client
 *   z        closes the current client
 *   .        a turn of the server
 *   ! @ #    the next creation of a backend is not supported; a copy fails; reading finds a loss
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/protocol.h"
#include "recorder/server/server.h"

#include "fake_backend.h"
#include "fuzz.h"

#define STARTER      1000
#define STRANGER     2000
#define CLIENTS      10
#define PASSED_LIMIT 64

/* Tests must not run with real-time priority, even as root. */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameter)
{
    (void)pid;
    (void)policy;
    (void)parameter;
    return 0;
}

/* --- the clients --- */

/* A file that was passed and may not be written to. */
struct passed {
    int fd;
    off_t bytes;
};

struct client_end {
    int fd;               /* -1: none */
    unsigned sent, heard; /* messages */
    bool was_wrong;       /* the last one came with a descriptor that is not valid for a trace */
};

struct world {
    struct server *server;
    const uint8_t *at, *end;
    struct client_end clients[CLIENTS];
    unsigned current;
    char with; /* passed with the next message; '\0': nothing */
    bool owned;
    bool has_patch;
    uint8_t patch_at, patch;
    struct passed passed[PASSED_LIMIT];
    size_t passed_count;
    int proc_fd; /* /proc/self/comm, for writing */
};

static uint8_t next_byte(struct world *world)
{
    return world->at < world->end ? *world->at++ : 0;
}

static void connect_client(struct world *world, uid_t uid)
{
    int ends[2];
    struct peer who = {.uid = uid, .pid = getpid()};
    unsigned place = 0;
    while (place < CLIENTS && world->clients[place].fd >= 0)
        place++;
    if (place == CLIENTS ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return;
    world->clients[place] = (struct client_end){.fd = ends[0]};
    world->current = place;
    server_adopt(world->server, ends[1], &who);
}

static int open_file(const char *name, int flags, mode_t mode)
{
    int made = memfd_create(name, MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
    int fd = open(path, flags | O_CLOEXEC);
    fchmod(made, mode);
    close(made);
    return fd;
}

static int open_pipe(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    close(ends[0]);
    return ends[1];
}

static int open_image(void)
{
    int fd = open_file("image", O_RDWR, 0600);
    if (fd >= 0 && write(fd, "not empty", 9) != 9) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The descriptor to pass for the letter `with`; -1: none. */
static int open_companion(struct world *world, char with)
{
    switch (with) {
    case 'f':
    case 'm':
        return open_file("good", O_RDWR, 0600);
    case 'l':
        return open_file("read-only", O_RDONLY, 0600);
    case 'a':
        return open_file("append", O_RDWR | O_APPEND, 0600);
    case 's':
        return open_file("setuid", O_RDWR, 04755);
    case 'i':
        return open_image();
    case 'q':
        return open_pipe();
    case 'd':
        return open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 'n':
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 'p':
        return fcntl(world->proc_fd, F_DUPFD_CLOEXEC, 0);
    default:
        return -1;
    }
}

/* Remembers a file that must not change. */
static void guard(struct world *world, char with, int fd)
{
    struct stat status;
    if (fd < 0 || !strchr("lasi", with) || world->passed_count == PASSED_LIMIT ||
        fstat(fd, &status) < 0)
        return;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0)
        world->passed[world->passed_count++] = (struct passed){copy, status.st_size};
}

#define FD_MANY 7

/* `with_file`: the request asks for a file to be written. */
static void send_bytes(struct world *world, const void *bytes, size_t length, bool with_file)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(FD_MANY * sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int fd = open_companion(world, world->with), fds[FD_MANY];
    size_t count = world->with == 'm' ? FD_MANY : 1;
    guard(world, world->with, fd);
    if (fd >= 0) {
        for (size_t i = 0; i < count; i++)
            fds[i] = fd;
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    }
    struct client_end *client = &world->clients[world->current];
    if (client->fd >= 0 && sendmsg(client->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
        client->sent++;
        client->was_wrong = with_file && fd >= 0 && !strchr("fm", world->with);
    }
    if (fd >= 0)
        close(fd);
    world->with = '\0';
}

static void send_request(struct world *world, uint16_t verb, uint32_t mode)
{
    struct request request = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .verb = verb,
        .flags = world->owned ? REQUEST_OWNED : 0,
    };
    if (verb == REQUEST_START)
        request.start = (struct request_start){
            .mode = mode,
            .rate_hz = 99,
            .ring_bytes = PROTOCOL_RING_MIN,
            .file_ring_bytes = PROTOCOL_FILE_RING_MIN,
            .categories = CATEGORIES_ALL,
            .key = {.key = {{1}}},
        };
    if (verb == REQUEST_STOP || verb == REQUEST_SNAPSHOT)
        request.key = (struct file_key){.key = {{1}}};
    if (verb == REQUEST_PROBE)
        request.probe.spec.shape = ARGUS_PROBE_QUEUE;
    if (world->has_patch)
        ((uint8_t *)&request)[world->patch_at * 5 % sizeof(request)] = world->patch;
    world->has_patch = world->owned = false;
    send_bytes(world, &request, sizeof(request),
               request.verb >= REQUEST_START && request.verb <= REQUEST_SNAPSHOT);
}

static void send_raw(struct world *world)
{
    size_t length = next_byte(world), left = (size_t)(world->end - world->at);
    if (length > left)
        length = left;
    send_bytes(world, world->at, length, false);
    world->at += length;
}

/* Every message of the server must be a valid reply, and invalid requests must be refused. */
static void read_replies(struct world *world)
{
    char bytes[sizeof(struct reply) + 1];
    ssize_t length;
    struct reply reply;
    struct client_end *client = &world->clients[world->current];
    while (client->fd >= 0 && (length = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
        struct argus_error *error = reply_parse(bytes, (size_t)length, &reply);
        require(!error, error ? error->message : "");
        client->heard++;
        if (client->heard == client->sent && client->was_wrong)
            require(reply.error != 0, "a file that is none for a trace is refused");
    }
}

static void close_client(struct world *world)
{
    struct client_end *client = &world->clients[world->current];
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

/* A letter of the input, and its request. */
static const struct {
    char letter;
    uint16_t verb;
    uint32_t mode;
} requests[] = {
    {'M', REQUEST_START, RECORDING_MEMORY},
    {'F', REQUEST_START, RECORDING_STREAM},
    {'G', REQUEST_START, RECORDING_RING},
    {'P', REQUEST_STOP, 0},
    {'N', REQUEST_SNAPSHOT, 0},
    {'T', REQUEST_STATUS, 0},
    {'C', REQUEST_CPUS, 0},
    {'E', REQUEST_NOTES, 0},
    {'W', REQUEST_WATCH, 0},
    {'D', REQUEST_WATCHED, 0},
    {'B', REQUEST_PROBE, 0},
    {'A', REQUEST_PROBE_ABSENT, 0},
};

static bool step_request(struct world *world, char letter)
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (requests[i].letter != letter)
            continue;
        send_request(world, requests[i].verb, requests[i].mode);
        return true;
    }
    return false;
}

static void step_setting(struct world *world, char letter)
{
    if (letter >= '0' && letter <= '9')
        world->current = (unsigned)(letter - '0');
    else if (strchr("flasiqdnpm", letter))
        world->with = letter;
    else if (letter == '+')
        world->owned = true;
    else if (letter == '!')
        fake.create_fails = true;
    else if (letter == '#')
        fake.loses = true;
}

/* False: the server has ended. */
static bool step(struct world *world, char letter)
{
    switch (letter) {
    case 'R':
        connect_client(world, 0);
        return true;
    case 'S':
        connect_client(world, STARTER);
        return true;
    case 'O':
        connect_client(world, STRANGER);
        return true;
    case 'v':
        send_request(world, next_byte(world), RECORDING_MEMORY);
        return true;
    case 'y':
        world->patch_at = next_byte(world);
        world->patch = next_byte(world);
        world->has_patch = true;
        return true;
    case 'x':
        send_raw(world);
        return true;
    case 'r':
        read_replies(world);
        return true;
    case 'z':
        close_client(world);
        return true;
    case '.':
        return server_turn(world->server, 0);
    default:
        if (letter && !step_request(world, letter))
            step_setting(world, letter);
        return true;
    }
}

static void check_passed(const struct world *world)
{
    struct stat status;
    for (size_t i = 0; i < world->passed_count; i++) {
        require(fstat(world->passed[i].fd, &status) == 0, "a passed file can be looked at");
        require(status.st_size == world->passed[i].bytes, "a refused file is not written to");
        close(world->passed[i].fd);
    }
}

static void check_own_name(int proc_fd, const char *name)
{
    char now[32] = "";
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    require(fd >= 0 && read(fd, now, sizeof(now) - 1) > 0, "/proc/self/comm can be read");
    require(strcmp(now, name) == 0, "nothing is written to a file of /proc");
    close(fd);
    close(proc_fd);
}

static size_t count_fds(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    require(directory, "/proc/self/fd can be read");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t fds_before = count_fds();
    struct world world = {.at = data, .end = data + size};
    char name[32] = "";
    world.proc_fd = open("/proc/self/comm", O_RDWR | O_CLOEXEC);
    if (pread(world.proc_fd, name, sizeof(name) - 1, 0) < 0)
        return 0;
    for (size_t i = 0; i < CLIENTS; i++)
        world.clients[i].fd = -1;
    struct argus_error *error = server_create_unlisted(STARTER, &world.server);
    require(!error, "there is memory");
    while (world.at < world.end && step(&world, (char)next_byte(&world)))
        ;
    for (world.current = 0; world.current < CLIENTS; world.current++) {
        read_replies(&world);
        close_client(&world);
    }
    server_turn(world.server, 0);
    server_destroy(world.server);
    require(fake.alive == 0, "every backend is destroyed");
    check_passed(&world);
    check_own_name(world.proc_fd, name);
    /* qemu-user gives the kernel twice the room for descriptors, and drops those that do not fit
     * into the caller's buffer. */
    require(count_fds() == fds_before || getenv("ARGUS_EMULATED"), "no descriptor is left open");
    memset(&fake, 0, sizeof(fake));
    return 0;
}
