#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "launch.h"
#include "protocol.h"

struct recorder_client {
    int fd;
};

static struct argus_error *connect_socket(int *ret_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PROTOCOL_SOCKET};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return argus_error_os(errno, "cannot make a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
        *ret_fd = fd;
        return NULL;
    }
    int failed = errno;
    close(fd);
    if (failed == ENOENT || failed == ECONNREFUSED)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no recorder is running: argus start begins a recording");
    return argus_error_os(failed, "cannot connect to " PROTOCOL_SOCKET);
}

struct argus_error *recorder_connect(struct recorder_client **ret)
{
    int fd = -1;
    struct argus_error *error = connect_socket(&fd);
    if (error)
        return error;
    struct recorder_client *client = calloc(1, sizeof(*client));
    if (!client) {
        close(fd);
        return argus_error_memory();
    }
    client->fd = fd;
    *ret = client;
    return NULL;
}

/* The running recorder itself knows best what to say: a START that it must refuse. */
static struct argus_error *refuse_second(struct recorder_client *client)
{
    struct recorder_status status = {0};
    struct argus_error *error = recorder_status(client, &status);
    if (!error && status.mode == RECORDER_IDLE)
        error = argus_error_create(ARGUS_ERROR_BUSY,
                                   "another argus is just starting the recorder (pid %d)",
                                   status.recorder_pid);
    if (error)
        return error;
    struct recorder_options options = RECORDER_OPTIONS_MEMORY;
    error = recorder_start(client, &options, -1, &status);
    return error ? error : argus_error_create(ARGUS_ERROR_BUSY, "a recorder is running already");
}

struct argus_error *recorder_launch(struct recorder_client **ret)
{
    struct recorder_client *running = NULL;
    struct argus_error *error = recorder_connect(&running);
    if (running) {
        error = refuse_second(running);
        recorder_close(running);
        return error;
    }
    if (error->code != ARGUS_ERROR_NOT_FOUND)
        return error;
    argus_error_destroy(error);
    error = launch_recorder();
    return error ? error : recorder_connect(ret);
}

void recorder_close(struct recorder_client *client)
{
    if (!client)
        return;
    close(client->fd);
    free(client);
}

int recorder_poll_fd(const struct recorder_client *client)
{
    return client->fd;
}

static void status_from_reply(const struct reply *reply, struct recorder_status *ret)
{
    *ret = (struct recorder_status){
        .mode = (enum recorder_mode)reply->mode,
        .starter_uid = reply->starter_uid,
        .starter_pid = (pid_t)reply->starter_pid,
        .recorder_pid = (pid_t)reply->recorder_pid,
        .cpu_count = reply->cpu_count,
        .started_wall_ns = reply->started_wall_ns,
        .duration_ns = reply->duration_ns,
        .ring_bytes = reply->ring_bytes,
        .records = reply->records,
        .lost = reply->lost,
        .stacks_lost = reply->stacks_lost,
        .bytes = reply->bytes,
        .emitted = reply->emitted,
        .own_cpu_ns = reply->own_cpu_ns,
    };
    memcpy(ret->notes, reply->text, sizeof(ret->notes));
}

/* Reads one reply; its error, if it carries one, is in `ret`, not in the result. */
static struct argus_error *receive_reply(struct recorder_client *client, struct reply *ret)
{
    char bytes[sizeof(struct reply) + 1];
    size_t length = 0;
    int fd = -1;
    struct argus_error *error = message_receive(client->fd, bytes, sizeof(bytes), &length, &fd);
    if (fd >= 0)
        close(fd); /* the recorder never sends one */
    if (!error && length == 0)
        error = argus_error_create(ARGUS_ERROR_IO, "the recorder has ended without an answer");
    return error ? error : reply_parse(bytes, length, ret);
}

/* A recorder that has failed says why, unasked, and closes: then sending fails, and the reply is there all the same. */
static struct argus_error *ask(struct recorder_client *client, const struct request *request,
                               int fd, struct recorder_status *ret)
{
    struct reply reply;
    struct argus_error *sent = message_send(client->fd, request, sizeof(*request), fd);
    struct argus_error *received = receive_reply(client, &reply);
    if (received) {
        argus_error_destroy(sent ? received : NULL);
        return sent ? sent : received;
    }
    argus_error_destroy(sent);
    if (reply.error)
        return argus_error_create((enum argus_error_code)(reply.error - 1), "%s", reply.text);
    status_from_reply(&reply, ret);
    return NULL;
}

static struct request make_request(enum request_verb verb)
{
    return (struct request){
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .verb = (uint16_t)verb};
}

struct argus_error *recorder_start(struct recorder_client *client,
                                   const struct recorder_options *options, int fd,
                                   struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_START);
    request.ring_bytes = options->ring_bytes;
    request.rate_hz = options->rate_hz;
    request.flags = options->stacks ? REQUEST_STACKS : 0;
    return ask(client, &request, fd, ret);
}

struct argus_error *recorder_stop(struct recorder_client *client, int fd,
                                  struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_STOP);
    return ask(client, &request, fd, ret);
}

struct argus_error *recorder_snapshot(struct recorder_client *client, int fd,
                                      struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_SNAPSHOT);
    return ask(client, &request, fd, ret);
}

struct argus_error *recorder_status(struct recorder_client *client, struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_STATUS);
    return ask(client, &request, -1, ret);
}
