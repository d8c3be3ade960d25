/* A pool of two threads: the bad event's job waits in the queue behind two long ones. */
#include "scene.h"

#define POOL_THREADS 2
#define QUEUE_MAX    64

static const char *const names[POOL_THREADS] = {"pool-0", "pool-1"};

struct job {
    unsigned ms;
    bool awaited; /* the main thread waits for it */
};

struct context {
    struct scene scene;
    pthread_mutex_t lock;
    pthread_cond_t queued, finished;
    struct job queue[QUEUE_MAX];
    unsigned head, tail; /* jobs taken, jobs put; modulo QUEUE_MAX */
    bool done;
};

/* The culprit, when it is long. */
static void import_photos(unsigned ms)
{
    scene_burn(ms);
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
        import_photos(job.ms);
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
    for (int i = 0; hang && i < POOL_THREADS; i++)
        put_job(self, (struct job){.ms = self->scene.hang_ms});
    self->done = false;
    put_job(self, (struct job){.ms = scene_jitter(&self->scene, 4), .awaited = true});
    while (!self->done)
        pthread_cond_wait(&self->finished, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

int main(int argc, char **argv)
{
    static struct context self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .queued = PTHREAD_COND_INITIALIZER,
                                  .finished = PTHREAD_COND_INITIALIZER};
    scene_begin(&self.scene, argc, argv, "");
    for (int i = 0; i < POOL_THREADS; i++) {
        pthread_t worker;
        scene_thread(&worker, names[i], be_worker, &self);
    }
    scene_run(&self.scene, handle_event, &self);
}
