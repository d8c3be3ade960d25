/* A lock passed through three threads before the main thread gets it: the thread that held it for
 * long is not the thread that released it to the main thread. */
#include "scene.h"

#define RUNNERS 3

struct runner;

struct context {
    struct scene scene;
    pthread_mutex_t baton;
    pthread_barrier_t start;
    unsigned ms[RUNNERS];
};

struct runner {
    struct context *race;
    unsigned lane;
};

/* The culprit, when it is long: the first runner's. */
static void draw_relief(unsigned ms)
{
    scene_burn(ms);
}

static void draw_border(unsigned ms)
{
    scene_burn(ms);
}

/* The runners ask for the baton one after the other, so that the kernel queues them in this
 * order. */
static void *be_runner(void *context)
{
    struct runner *self = context;
    struct context *race = self->race;
    for (;;) {
        pthread_barrier_wait(&race->start);
        scene_sleep(self->lane * 4);
        pthread_mutex_lock(&race->baton);
        if (self->lane == 0)
            draw_relief(race->ms[0]);
        else
            draw_border(race->ms[self->lane]);
        pthread_mutex_unlock(&race->baton);
    }
    return NULL;
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    for (unsigned lane = 0; lane < RUNNERS; lane++)
        self->ms[lane] = 2;
    self->ms[0] = hang ? self->scene.hang_ms : 16;
    pthread_barrier_wait(&self->start);
    scene_sleep(RUNNERS * 4);
    pthread_mutex_lock(&self->baton);
    scene_burn(1);
    pthread_mutex_unlock(&self->baton);
}

int main(int argc, char **argv)
{
    static struct context self = {.baton = PTHREAD_MUTEX_INITIALIZER};
    static struct runner runners[RUNNERS];
    static const char *const names[RUNNERS] = {"lane-0", "lane-1", "lane-2"};
    scene_begin(&self.scene, argc, argv, "");
    pthread_barrier_init(&self.start, NULL, RUNNERS + 1);
    for (unsigned lane = 0; lane < RUNNERS; lane++) {
        pthread_t thread;
        runners[lane] = (struct runner){&self, lane};
        scene_thread(&thread, names[lane], be_runner, &runners[lane]);
    }
    scene_run(&self.scene, handle_event, &self);
}
