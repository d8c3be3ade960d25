/* Several similar baselines: with one and the same function the victim asks three desks in turn. In
 * the bad case the second one does not answer before the victim gives up. */
#include <poll.h>
#include <unistd.h>

#include "scene.h"

#define DESKS 3

struct context {
    struct scene scene;
    struct line clients[DESKS], desks[DESKS];
    unsigned turn;
};

/* The culprit, when it is long. */
static void stamp_forms(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_desk(void *context)
{
    line_serve(*(struct line *)context, stamp_forms);
}

static void ask_desk(struct context *self, unsigned desk, unsigned ms)
{
    struct work work = {.before_ms = ms};
    struct pollfd answer = {.fd = self->clients[desk].in, .events = POLLIN};
    char stamp;
    line_send(self->clients[desk], &work, sizeof(work));
    if (poll(&answer, 1, (int)self->scene.hang_ms) == 1)
        line_receive(self->clients[desk], &stamp, 1);
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    if (hang)
        ask_desk(self, 1, self->scene.hang_ms + 1500);
    else
        ask_desk(self, self->turn++ % DESKS, scene_jitter(&self->scene, 4));
}

int main(int argc, char **argv)
{
    static const char *const names[DESKS] = {"desk-red", "desk-green", "desk-blue"};
    struct context self = {.turn = 0};
    scene_begin(&self.scene, argc, argv, "unix");
    for (unsigned i = 0; i < DESKS; i++) {
        struct line ends[2];
        scene_connect(&self.scene, ends);
        self.clients[i] = ends[0];
        self.desks[i] = ends[1];
        scene_process(names[i], be_desk, &self.desks[i]);
    }
    scene_run(&self.scene, handle_event, &self);
}
