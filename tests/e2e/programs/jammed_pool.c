/* A pool of three threads, all of which wait for one slow process. The victim's own job is quick,
 * but has to wait in the queue. */
#include "scene.h"

#define POOL_THREADS 3
#define QUEUE_MAX    64

struct job {
    unsigned registry_ms;
    bool awaited;
};

struct context {
    struct scene scene;
    pthread_mutex_t lock, registry_lock;
    pthread_cond_t queued, finished;
    struct job queue[QUEUE_MAX];
    unsigned head, tail;
    bool done;
    struct line registry;
};

/* The culprit, when it is long. */
static void rewrite_registry(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_registry(void *context)
{
    line_serve(*(struct line *)context, rewrite_registry);
}

static void ask_registry(struct context *self, unsigned ms)
{
    pthread_mutex_lock(&self->registry_lock);
    line_ask(self->registry, (struct work){.before_ms = ms});
    pthread_mutex_unlock(&self->registry_lock);
}

static void *be_worker(void *context)
{
    struct context *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->head == self->tail)
            pthread_cond_wait(&self->queued, &self->lock);
        struct job job = self->queue[self->head++ % QUEUE_MAX];
        pthread_mutex_unlock(&self->lock);
        if (job.registry_ms)
            ask_registry(self, job.registry_ms);
        scene_burn(1);
        pthread_mutex_lock(&self->lock);
        if (job.awaited) {
            self->done = true;
            pthread_cond_signal(&self->finished);
        }
    }
    return NULL;
}

static void put_job(struct context *self, struct job job)
{
    self->queue[self->tail++ % QUEUE_MAX] = job;
    pthread_cond_signal(&self->queued);
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    pthread_mutex_lock(&self->lock);
    for (int i = 0; i < POOL_THREADS && hang; i++)
        put_job(self, (struct job){.registry_ms = i == 0 ? self->scene.hang_ms : 1});
    if (!hang)
        put_job(self, (struct job){.registry_ms = 1});
    pthread_mutex_unlock(&self->lock);
    if (hang)
        scene_sleep(10);
    pthread_mutex_lock(&self->lock);
    self->done = false;
    put_job(self, (struct job){.awaited = true});
    while (!self->done)
        pthread_cond_wait(&self->finished, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

int main(int argc, char **argv)
{
    static struct context self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .registry_lock = PTHREAD_MUTEX_INITIALIZER,
                                  .queued = PTHREAD_COND_INITIALIZER,
                                  .finished = PTHREAD_COND_INITIALIZER};
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.registry = ends[0];
    scene_process("registry", be_registry, &ends[1]);
    for (int i = 0; i < POOL_THREADS; i++) {
        pthread_t worker;
        scene_thread(&worker, "tasker", be_worker, &self);
    }
    scene_run(&self.scene, handle_event, &self);
}
