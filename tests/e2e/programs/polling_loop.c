/* The main thread polls a flag that another thread sets late. Variants: usleep, yield. */
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    atomic_bool loaded; /* the data flag */
    int load[2];
};

static void *be_loader(void *context)
{
    struct context *self = context;
    unsigned ms;
    while (read(self->load[0], &ms, sizeof(ms)) == sizeof(ms)) {
        scene_burn(ms);
        atomic_store(&self->loaded, true);
    }
    return NULL;
}

static void wait_until_loaded(struct context *self)
{
    bool yield = scene_variant(&self->scene, "yield");
    while (!atomic_load(&self->loaded)) {
        if (yield)
            sched_yield();
        else
            usleep(1000);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 8);
    atomic_store(&self->loaded, false);
    if (write(self->load[1], &ms, sizeof(ms)) != sizeof(ms))
        scene_fail("load");
    wait_until_loaded(self);
}

int main(int argc, char **argv)
{
    static struct context self;
    pthread_t loader;
    scene_begin(&self.scene, argc, argv, "usleep");
    if (pipe(self.load) != 0)
        scene_fail("pipe");
    scene_thread(&loader, "loader", be_loader, &self);
    scene_run(&self.scene, handle_event, &self);
}
