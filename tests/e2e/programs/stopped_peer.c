/* The server that the victim asks is stopped by a third process, and continued by it later. */
#include <signal.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, server;
    pid_t server_pid;
};

static void answer(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_server(void *context)
{
    line_serve(((struct context *)context)->server, answer);
}

static void be_stopper(void *context)
{
    struct context *self = context;
    const struct line events = {.in = self->scene.hint_fd, .out = -1};
    char event;
    while (line_receive(events, &event, 1)) {
        if (event != 'h')
            continue;
        kill(self->server_pid, SIGSTOP);
        scene_sleep(self->scene.hang_ms);
        kill(self->server_pid, SIGCONT);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    (void)hang;
    line_ask(self->client, (struct work){.before_ms = scene_jitter(&self->scene, 4)});
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.server = ends[1];
    self.server_pid = scene_process("peer", be_server, &self);
    scene_process("stopper", be_stopper, &self);
    scene_run(&self.scene, handle_event, &self);
}
