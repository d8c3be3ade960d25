/* A slow server on loopback TCP: its answer comes byte by byte, and it computes between them. No single wait is long. */
#include "scene.h"

#define ANSWER_BYTES 64

struct context {
    struct scene scene;
    struct line client, server;
};

/* The culprit, when it is long. */
static void render_tile(unsigned ms)
{
    scene_burn(ms);
}

static void be_tileserver(void *context)
{
    struct context *self = context;
    unsigned ms;
    while (line_receive(self->server, &ms, sizeof(ms))) {
        for (unsigned i = 0; i < ANSWER_BYTES; i++) {
            if (ms)
                render_tile(ms);
            line_send(self->server, "t", 1);
        }
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms / ANSWER_BYTES : 0;
    char answer[ANSWER_BYTES];
    line_send(self->client, &ms, sizeof(ms));
    line_receive(self->client, answer, sizeof(answer));
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "tcp");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.server = ends[1];
    scene_process("tileserver", be_tileserver, &self);
    scene_run(&self.scene, handle_event, &self);
}
