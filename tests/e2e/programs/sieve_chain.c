/* A pipeline of processes: the victim reads what the last filter writes; the slow one is the second of four. */
#include "scene.h"

#define FILTERS 4
#define SLOW    1

struct filter {
    struct line line; /* in: from the previous filter; out: to the next one */
    unsigned place;
};

static struct line ends; /* the victim's: out to the first filter, in from the last */

/* The culprit, when it is long. */
static void unpack_block(unsigned ms)
{
    scene_burn(ms);
}

static void be_filter(void *context)
{
    struct filter *self = context;
    unsigned ms;
    while (line_receive(self->line, &ms, sizeof(ms))) {
        if (self->place == SLOW)
            unpack_block(ms);
        else
            scene_burn(1);
        line_send(self->line, &ms, sizeof(ms));
    }
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    unsigned ms = hang ? scene->hang_ms : scene_jitter(scene, 6);
    line_send(ends, &ms, sizeof(ms));
    line_receive(ends, &ms, sizeof(ms));
}

int main(int argc, char **argv)
{
    static const char *const names[FILTERS] = {"cutter", "unpacker", "sorter", "painter"};
    static struct scene scene;
    struct line links[FILTERS + 1][2];
    scene_begin(&scene, argc, argv, "pipe");
    for (unsigned i = 0; i <= FILTERS; i++)
        scene_connect(&scene, links[i]);
    ends = (struct line){.in = links[FILTERS][1].in, .out = links[0][0].out};
    for (unsigned i = 0; i < FILTERS; i++) {
        struct filter filter = {.line = {.in = links[i][1].in, .out = links[i + 1][0].out},
                                .place = i};
        scene_process(names[i], be_filter, &filter);
    }
    scene_run(&scene, handle_event, &scene);
}
