/* The victim gives up waiting after --hang-ms and continues: the cause of the time-out is a
 * deadlock of two threads of the registrar, which wait for each other's lock for ever. */
#include <poll.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, server;
    pthread_mutex_t names, deeds;
    int audit[2]; /* to the auditor: 'n' or 'h' */
};

/* names, then deeds */
static void register_deed(struct context *self, bool hang)
{
    pthread_mutex_lock(&self->names);
    if (write(self->audit[1], hang ? "h" : "n", 1) != 1)
        scene_fail("audit");
    scene_sleep(hang ? 20 : 1);
    pthread_mutex_lock(&self->deeds);
    scene_burn(1);
    pthread_mutex_unlock(&self->deeds);
    pthread_mutex_unlock(&self->names);
}

/* Sometimes deeds, then names. */
static void *be_auditor(void *context)
{
    struct context *self = context;
    char event;
    while (read(self->audit[0], &event, 1) == 1) {
        if (event != 'h')
            continue;
        pthread_mutex_lock(&self->deeds);
        scene_sleep(5);
        pthread_mutex_lock(&self->names);
        pthread_mutex_unlock(&self->names);
        pthread_mutex_unlock(&self->deeds);
    }
    return NULL;
}

static void be_registrar(void *context)
{
    struct context *self = context;
    pthread_t auditor;
    char request;
    scene_thread(&auditor, "auditor", be_auditor, self);
    while (line_receive(self->server, &request, 1)) {
        register_deed(self, request == 'h');
        line_send(self->server, "r", 1);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    static bool gone;
    struct pollfd reply = {.fd = self->client.in, .events = POLLIN};
    char byte;
    if (gone || !line_send(self->client, hang ? "h" : "n", 1))
        return;
    if (poll(&reply, 1, (int)self->scene.hang_ms) == 1)
        line_receive(self->client, &byte, 1);
    else
        gone = true;
}

int main(int argc, char **argv)
{
    static struct context self = {.names = PTHREAD_MUTEX_INITIALIZER,
                                  .deeds = PTHREAD_MUTEX_INITIALIZER};
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.server = ends[1];
    if (pipe(self.audit) != 0)
        scene_fail("pipe");
    scene_process("registrar", be_registrar, &self);
    scene_run(&self.scene, handle_event, &self);
}
