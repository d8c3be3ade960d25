/* A server forks a process for each request, which answers the victim itself: every answer comes from a process that
 * did not exist before. */
#include <signal.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, server;
    struct work work;
};

static void run_query(const struct work *work)
{
    scene_burn(work->before_ms);
}

static void be_child(void *context)
{
    struct context *self = context;
    run_query(&self->work);
    line_send(self->server, "r", 1);
}

static void be_fork_server(void *context)
{
    struct context *self = context;
    signal(SIGCHLD, SIG_IGN);
    while (line_receive(self->server, &self->work, sizeof(self->work)))
        scene_process("query", be_child, self);
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 6);
    line_ask(self->client, (struct work){.before_ms = ms});
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.server = ends[1];
    scene_process("forkserver", be_fork_server, &self);
    scene_run(&self.scene, handle_event, &self);
}
