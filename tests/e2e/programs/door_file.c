/* The victim checks every millisecond whether a file exists, which another process creates late. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, porter;
    char door[64];
};

static void find_key(unsigned ms)
{
    scene_burn(ms);
}

static void be_porter(void *context)
{
    struct context *self = context;
    unsigned ms;
    while (line_receive(self->porter, &ms, sizeof(ms))) {
        find_key(ms);
        close(open(self->door, O_CREAT | O_WRONLY, 0600));
    }
}

/* The loop. */
static void wait_at_door(struct context *self)
{
    while (access(self->door, F_OK) != 0)
        usleep(1000);
    unlink(self->door);
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 5);
    line_send(self->client, &ms, sizeof(ms));
    wait_at_door(self);
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    snprintf(self.door, sizeof(self.door), "/var/tmp/door-%d", (int)getpid());
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.porter = ends[1];
    scene_process("porter", be_porter, &self);
    scene_run(&self.scene, handle_event, &self);
}
