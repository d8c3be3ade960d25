/* A server takes the requests of both its clients as one batch and answers when all are done. The client "greedy"
 * asks for something expensive in the batch in which the victim asks for something cheap. */
#include <poll.h>

#include "scene.h"

#define CLIENTS         2
#define BATCH_WINDOW_MS 8

struct context {
    struct scene scene;
    struct line victim, greedy; /* the clients' ends */
    struct line server[CLIENTS];
};

static void render_page(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

/* Waits for a first request, and then for those that come within the window. Returns which clients asked. */
static unsigned collect_batch(struct context *self, struct work ret[CLIENTS])
{
    struct pollfd clients[CLIENTS];
    unsigned asked = 0;
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = (struct pollfd){.fd = self->server[i].in, .events = POLLIN};
    for (int timeout_ms = -1; poll(clients, CLIENTS, timeout_ms) > 0;
         timeout_ms = BATCH_WINDOW_MS) {
        for (int i = 0; i < CLIENTS; i++) {
            if ((clients[i].revents & POLLIN) == 0)
                continue;
            line_receive(self->server[i], &ret[i], sizeof(ret[i]));
            clients[i].events = 0;
            asked |= 1u << i;
        }
    }
    return asked;
}

static void be_batcher(void *context)
{
    struct context *self = context;
    for (;;) {
        struct work batch[CLIENTS];
        unsigned asked = collect_batch(self, batch);
        for (int i = 0; i < CLIENTS; i++)
            if ((asked & 1u << i) != 0)
                render_page(&batch[i], batch[i].before_ms);
        for (int i = 0; i < CLIENTS; i++)
            if ((asked & 1u << i) != 0)
                line_send(self->server[i], "r", 1);
    }
}

static void be_greedy(void *context)
{
    struct context *self = context;
    const struct line events = {.in = self->scene.hint_fd, .out = -1};
    char event;
    while (line_receive(events, &event, 1)) {
        unsigned ms = event == 'h' ? self->scene.hang_ms : scene_jitter(&self->scene, 5);
        line_ask(self->greedy, (struct work){.before_ms = ms});
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    (void)hang; /* the victim always asks for the same */
    line_ask(self->victim, (struct work){.before_ms = scene_jitter(&self->scene, 2)});
}

int main(int argc, char **argv)
{
    struct context self;
    struct line victim[2], greedy[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, victim);
    scene_connect(&self.scene, greedy);
    self.victim = victim[0];
    self.greedy = greedy[0];
    self.server[0] = victim[1];
    self.server[1] = greedy[1];
    scene_process("batcher", be_batcher, &self);
    scene_process("greedy", be_greedy, &self);
    scene_run(&self.scene, handle_event, &self);
}
