/* A condition variable for which many threads wait: a conductor wakes all of them, and the main
 * thread waits for the slow soloist. The others finish early. */
#include "scene.h"

#define SINGERS 4

struct context {
    struct scene scene;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* shared: every change wakes all waiters */
    unsigned verse, sung;   /* verses begun; singers that have finished this one */
    unsigned solo_ms;
};

struct singer {
    struct context *choir;
    unsigned voice;
};

/* The culprit, when it is long. */
static void sing_solo(unsigned ms)
{
    scene_burn(ms);
}

static void hum_along(void)
{
    scene_burn(1);
}

static void *be_singer(void *context)
{
    struct singer *self = context;
    struct context *choir = self->choir;
    pthread_mutex_lock(&choir->lock);
    for (unsigned verse = 0;; verse = choir->verse) {
        while (choir->verse == verse)
            pthread_cond_wait(&choir->changed, &choir->lock);
        pthread_mutex_unlock(&choir->lock);
        if (self->voice == 2)
            sing_solo(choir->solo_ms);
        else
            hum_along();
        pthread_mutex_lock(&choir->lock);
        choir->sung++;
        pthread_cond_broadcast(&choir->changed);
    }
    return NULL;
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    pthread_mutex_lock(&self->lock);
    self->solo_ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 5);
    self->sung = 0;
    self->verse++;
    pthread_cond_broadcast(&self->changed);
    while (self->sung < SINGERS)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

int main(int argc, char **argv)
{
    static struct context self = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .changed = PTHREAD_COND_INITIALIZER};
    static struct singer singers[SINGERS];
    static const char *const names[SINGERS] = {"alto", "bass", "soloist", "tenor"};
    scene_begin(&self.scene, argc, argv, "");
    for (unsigned i = 0; i < SINGERS; i++) {
        pthread_t thread;
        singers[i] = (struct singer){&self, i};
        scene_thread(&thread, names[i], be_singer, &singers[i]);
    }
    scene_run(&self.scene, handle_event, &self);
}
