/* A bus: one broker with a connection to each of four clients passes messages on. The victim asks "almanac" through it,
 * which is slow; two chatterers keep the broker busy meanwhile. */
#include <poll.h>

#include "scene.h"

enum { VICTIM, ALMANAC, GOSSIP, GOSSIP_2, CLIENTS };

struct message {
    unsigned to, from, ms;
};

static struct line client_ends[CLIENTS], broker_ends[CLIENTS];

static void be_broker(void *context)
{
    struct pollfd fds[CLIENTS];
    struct message message;
    (void)context;
    for (unsigned i = 0; i < CLIENTS; i++)
        fds[i] = (struct pollfd){.fd = broker_ends[i].in, .events = POLLIN};
    while (poll(fds, CLIENTS, -1) > 0) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            if (!fds[i].revents)
                continue;
            if (!line_receive(broker_ends[i], &message, sizeof(message)))
                return;
            message.from = i;
            line_send(broker_ends[message.to], &message, sizeof(message));
        }
    }
}

/* The culprit, when it is long. */
static void compute_tides(unsigned ms)
{
    scene_burn(ms);
}

static void be_almanac(void *context)
{
    struct message message;
    (void)context;
    while (line_receive(client_ends[ALMANAC], &message, sizeof(message))) {
        compute_tides(message.ms);
        message.to = message.from;
        line_send(client_ends[ALMANAC], &message, sizeof(message));
    }
}

/* Two clients that send to each other all the time. */
static void be_gossip(void *context)
{
    unsigned self = *(unsigned *)context;
    struct message message = {.to = self == GOSSIP ? GOSSIP_2 : GOSSIP};
    if (self == GOSSIP)
        line_send(client_ends[self], &message, sizeof(message));
    while (line_receive(client_ends[self], &message, sizeof(message))) {
        scene_sleep(4);
        message.to = message.from;
        line_send(client_ends[self], &message, sizeof(message));
    }
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    struct message message = {.to = ALMANAC, .ms = hang ? scene->hang_ms : scene_jitter(scene, 4)};
    line_send(client_ends[VICTIM], &message, sizeof(message));
    line_receive(client_ends[VICTIM], &message, sizeof(message));
}

int main(int argc, char **argv)
{
    static unsigned gossips[] = {GOSSIP, GOSSIP_2};
    static struct scene scene;
    scene_begin(&scene, argc, argv, "unix");
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct line ends[2];
        scene_connect(&scene, ends);
        client_ends[i] = ends[0];
        broker_ends[i] = ends[1];
    }
    scene_process("busbroker", be_broker, NULL);
    scene_process("almanac", be_almanac, NULL);
    scene_process("gossip", be_gossip, &gossips[0]);
    scene_process("gossip", be_gossip, &gossips[1]);
    scene_run(&scene, handle_event, &scene);
}
