#include "client/step_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "client/launch.h"

#define PATIENCE_MS 200
#define PIPE_BYTES  (1 << 20)

struct step_client {
    pid_t pid;
    int request_fd, item_fd;
    size_t at, length; /* in `buffer`: bytes read but not yet returned */
    uint8_t buffer[4 * STEP_ITEM_BYTES];
};

/* Writing to a stepper that has exited would raise SIGPIPE in this process. A socket could report
 * that without a signal, a pipe cannot. The request fits into a pipe, so it is written before the
 * stepper starts. */
static struct argus_error *send_request(int fd, const struct step_request *request)
{
    ssize_t put = write(fd, request, sizeof(*request));
    if (put == (ssize_t)sizeof(*request))
        return NULL;
    return argus_error_os(put < 0 ? errno : EIO, "cannot send the stepper its request");
}

static struct argus_error *start(struct step_client *client, const struct step_request *request,
                                 bool with_sudo)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    if (pipe2(from, O_CLOEXEC) < 0) {
        close(to[0]);
        close(to[1]);
        return argus_error_os(errno, "cannot make a pipe");
    }
    client->request_fd = to[1];
    client->item_fd = from[0];
#ifdef F_SETPIPE_SZ
    /* As large as allowed: on a busy machine this process may read late. */
    fcntl(from[0], F_SETPIPE_SZ, PIPE_BYTES);
#endif
    /* Before the stepper starts: this process still has the reading end of the pipe open, so
     * writing cannot fail. */
    struct argus_error *error = send_request(to[1], request);
    if (!error)
        error = launch_recorder_verb("step", to[0], from[1], with_sudo ? LAUNCH_SUDO : LAUNCH_PLAIN,
                                     &client->pid);
    close(to[0]);
    close(from[1]);
    return error;
}

struct argus_error *step_client_start(const struct step_request *request, bool with_sudo,
                                      struct step_client **ret)
{
    struct step_client *client = malloc(sizeof(*client));
    if (!client)
        return argus_error_memory();
    client->pid = -1;
    client->request_fd = client->item_fd = -1;
    client->at = client->length = 0;
    struct argus_error *error = start(client, request, with_sudo);
    if (error)
        step_client_close(client);
    else
        *ret = client;
    return error;
}

static bool take(struct step_client *client, struct step_said *ret)
{
    struct step_item item;
    size_t there = client->length - client->at;
    if (there < sizeof(item))
        return false;
    memcpy(&item, client->buffer + client->at, sizeof(item));
    if (item.bytes > STEP_ITEM_BYTES || there - sizeof(item) < item.bytes)
        return false;
    *ret = (struct step_said){item.kind, item.bytes, client->buffer + client->at + sizeof(item)};
    client->at += sizeof(item) + item.bytes;
    return true;
}

struct argus_error *step_client_next(struct step_client *client, struct step_said *ret)
{
    struct pollfd polled = {.fd = client->item_fd, .events = POLLIN};
    *ret = (struct step_said){0};
    if (take(client, ret))
        return NULL;
    memmove(client->buffer, client->buffer + client->at, client->length - client->at);
    client->length -= client->at;
    client->at = 0;
    if (poll(&polled, 1, PATIENCE_MS) <= 0)
        return NULL;
    ssize_t got = read(client->item_fd, client->buffer + client->length,
                       sizeof(client->buffer) - client->length);
    if (got <= 0)
        return argus_error_create(ARGUS_ERROR_IO,
                                  "the stepper (argus-recorder step) ended without a reply");
    client->length += (size_t)got;
    take(client, ret);
    return NULL;
}

void step_client_stop(struct step_client *client)
{
    if (client->request_fd >= 0)
        close(client->request_fd);
    client->request_fd = -1;
}

void step_client_close(struct step_client *client)
{
    int status;
    if (!client)
        return;
    step_client_stop(client);
    if (client->item_fd >= 0)
        close(client->item_fd);
    while (client->pid > 0 && waitpid(client->pid, &status, 0) < 0 && errno == EINTR)
        ;
    free(client);
}
