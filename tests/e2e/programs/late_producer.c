/* The main thread waits on a condition variable for a thread that is late. Variants: busy, sleep. */
#include "scene.h"

struct context {
    struct scene scene;
    pthread_mutex_t lock;
    pthread_cond_t wanted, ready;
    unsigned order_ms; /* 0: no order */
    bool produced;
};

static void decode_picture(const struct context *self, unsigned ms)
{
    scene_work(&(struct work){.sleeping = scene_variant(&self->scene, "sleep")}, ms);
}

static void *be_producer(void *context)
{
    struct context *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->order_ms == 0)
            pthread_cond_wait(&self->wanted, &self->lock);
        unsigned ms = self->order_ms;
        self->order_ms = 0;
        pthread_mutex_unlock(&self->lock);
        decode_picture(self, ms);
        pthread_mutex_lock(&self->lock);
        self->produced = true;
        pthread_cond_signal(&self->ready);
    }
    return NULL;
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    pthread_mutex_lock(&self->lock);
    self->order_ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 6);
    self->produced = false;
    pthread_cond_signal(&self->wanted);
    while (!self->produced)
        pthread_cond_wait(&self->ready, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

int main(int argc, char **argv)
{
    static struct context self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .wanted = PTHREAD_COND_INITIALIZER,
                                  .ready = PTHREAD_COND_INITIALIZER};
    pthread_t producer;
    scene_begin(&self.scene, argc, argv, "busy");
    scene_thread(&producer, "producer", be_producer, &self);
    scene_run(&self.scene, handle_event, &self);
}
