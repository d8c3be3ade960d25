/* Three processes away: victim → front → middle → backend, and the backend is busy with its own
 * work when the request of the bad event arrives. Variants: unix, pipe, tcp. */
#include "scene.h"

struct place {
    struct line client, server; /* server: unused in the backend */
};

struct context {
    struct scene scene;
    struct line front;
    unsigned handled;
};

static void relay_requests(void *context)
{
    struct place *place = context;
    struct work work;
    while (line_receive(place->client, &work, sizeof(work)) && line_ask(place->server, work) &&
           line_send(place->client, "r", 1))
        ;
}

/* The culprit. */
static void compact_database(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void serve_backend(void *context)
{
    line_serve(((struct place *)context)->client, compact_database);
}

/* The last good event makes the backend busy; the bad one only has to wait for it. */
static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    struct work work = {.before_ms = scene_jitter(&self->scene, 3)};
    self->handled++;
    if (!hang && self->handled == self->scene.rounds)
        work.after_ms = self->scene.hang_ms;
    line_ask(self->front, work);
}

int main(int argc, char **argv)
{
    struct context self = {.handled = 0};
    struct line front[2], middle[2], backend[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, front);
    scene_connect(&self.scene, middle);
    scene_connect(&self.scene, backend);
    struct place front_place = {.client = front[1], .server = middle[0]};
    struct place middle_place = {.client = middle[1], .server = backend[0]};
    struct place backend_place = {.client = backend[1]};
    scene_process("backend", serve_backend, &backend_place);
    scene_process("middle", relay_requests, &middle_place);
    scene_process("front", relay_requests, &front_place);
    self.front = front[0];
    scene_run(&self.scene, handle_event, &self);
}
