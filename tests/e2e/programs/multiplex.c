/* Victim and server wait by select, poll or epoll (the variant), also for the reply. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, server;
    void (*wait)(int fd);
};

static void wait_by_select(int fd)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    select(fd + 1, &set, NULL, NULL, NULL);
}

static void wait_by_poll(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    poll(&poll_fd, 1, -1);
}

/* The process's epoll instance that watches `fd` alone; made at the first use. */
static int epoll_of(int fd)
{
    static struct {
        int fd, epoll_fd;
    } made[4];
    size_t at = 0;
    while (at < 3 && made[at].epoll_fd != 0 && made[at].fd != fd)
        at++;
    if (made[at].epoll_fd != 0)
        return made[at].epoll_fd;
    struct epoll_event event = {.events = EPOLLIN};
    made[at].fd = fd;
    made[at].epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (made[at].epoll_fd < 0 || epoll_ctl(made[at].epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        scene_fail("epoll");
    return made[at].epoll_fd;
}

static void wait_by_epoll(int fd)
{
    struct epoll_event event;
    epoll_wait(epoll_of(fd), &event, 1, -1);
}

static void draw_window(const struct work *work)
{
    scene_burn(work->before_ms);
}

static void be_display(void *context)
{
    struct context *self = context;
    for (;;) {
        struct work work;
        self->wait(self->server.in);
        if (!line_receive(self->server, &work, sizeof(work)))
            return;
        draw_window(&work);
        line_send(self->server, "r", 1);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    char reply;
    const struct work work = {.before_ms =
                                  hang ? self->scene.hang_ms : scene_jitter(&self->scene, 5)};
    line_send(self->client, &work, sizeof(work));
    self->wait(self->client.in);
    line_receive(self->client, &reply, 1);
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "epoll");
    self.wait = scene_variant(&self.scene, "select") ? wait_by_select
                : scene_variant(&self.scene, "poll") ? wait_by_poll
                                                     : wait_by_epoll;
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.server = ends[1];
    scene_process("display", be_display, &self);
    scene_run_with(&self.scene, self.wait, handle_event, &self);
}
