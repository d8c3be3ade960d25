/* A lost reply: in the bad case the steward reads the request and returns to its idle wait without
 * a reply. The victim gives up after --hang-ms. */
#include <poll.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, steward;
};

static void pour_tea(unsigned ms)
{
    scene_burn(ms);
}

static void be_steward(void *context)
{
    struct context *self = context;
    char request;
    while (line_receive(self->steward, &request, 1)) {
        pour_tea(2);
        if (request != 'h')
            line_send(self->steward, "r", 1);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    struct pollfd reply = {.fd = self->client.in, .events = POLLIN};
    char byte;
    line_send(self->client, hang ? "h" : "n", 1);
    if (poll(&reply, 1, (int)self->scene.hang_ms) == 1)
        line_receive(self->client, &byte, 1);
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.steward = ends[1];
    scene_process("steward", be_steward, &self);
    scene_run(&self.scene, handle_event, &self);
}
