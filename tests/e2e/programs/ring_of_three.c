/* Three processes that wait for each other in a ring. The third one gives up after --hang-ms.
 * Variant first: they have never asked each other in this way before. */
#include <poll.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line to_notary, notary; /* victim asks notary … */
    struct line to_surveyor, surveyor;
    struct line to_victim, victim; /* … and the surveyor asks the victim back */
};

static void be_notary(void *context)
{
    struct context *self = context;
    char event;
    while (line_receive(self->notary, &event, 1)) {
        if (event == 'h' || !scene_variant(&self->scene, "first")) {
            line_send(self->to_surveyor, &event, 1);
            line_receive(self->to_surveyor, &event, 1);
        }
        line_send(self->notary, "r", 1);
    }
}

static void be_surveyor(void *context)
{
    struct context *self = context;
    struct pollfd answer = {.fd = self->to_victim.in, .events = POLLIN};
    char event;
    while (line_receive(self->surveyor, &event, 1)) {
        if (event == 'h') {
            line_send(self->to_victim, "?", 1);
            poll(&answer, 1, (int)self->scene.hang_ms);
        }
        line_send(self->surveyor, "r", 1);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    char reply;
    line_send(self->to_notary, hang ? "h" : "n", 1);
    line_receive(self->to_notary, &reply, 1);
}

int main(int argc, char **argv)
{
    struct context self;
    struct line a[2], b[2], c[2];
    scene_begin(&self.scene, argc, argv, "");
    scene_connect(&self.scene, a);
    scene_connect(&self.scene, b);
    scene_connect(&self.scene, c);
    self.to_notary = a[0];
    self.notary = a[1];
    self.to_surveyor = b[0];
    self.surveyor = b[1];
    self.to_victim = c[0];
    self.victim = c[1];
    scene_process("notary", be_notary, &self);
    scene_process("surveyor", be_surveyor, &self);
    scene_run(&self.scene, handle_event, &self);
}
