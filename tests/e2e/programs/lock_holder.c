/* The main thread wants a mutex that the thread "saver" holds. Variants: sleep (the saver asks a daemon that
 * sleeps), busy (… that computes), holder (the saver itself sleeps with the lock held). */
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    pthread_mutex_t lock;
    struct line daemon; /* the saver's end */
    int save[2];        /* the main thread's pipe to the saver: how long the daemon shall take */
};

static void flush_journal(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_daemon(void *context)
{
    line_serve(*(struct line *)context, flush_journal);
}

static void save_document(struct context *self, unsigned ms)
{
    bool busy = scene_variant(&self->scene, "busy");
    pthread_mutex_lock(&self->lock);
    if (scene_variant(&self->scene, "holder"))
        scene_sleep(ms);
    else
        line_ask(self->daemon, (struct work){.before_ms = ms, .sleeping = !busy});
    pthread_mutex_unlock(&self->lock);
}

static void *be_saver(void *context)
{
    struct context *self = context;
    unsigned ms;
    while (read(self->save[0], &ms, sizeof(ms)) == sizeof(ms))
        save_document(self, ms);
    return NULL;
}

/* Every event starts a save, and then needs the lock while the save is in progress. */
static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 12);
    if (write(self->save[1], &ms, sizeof(ms)) != sizeof(ms))
        scene_fail("save");
    scene_burn(4);
    pthread_mutex_lock(&self->lock);
    scene_burn(1);
    pthread_mutex_unlock(&self->lock);
}

int main(int argc, char **argv)
{
    static struct context self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct line daemon[2];
    pthread_t saver;
    scene_begin(&self.scene, argc, argv, "sleep");
    scene_connect(&self.scene, daemon);
    self.daemon = daemon[0];
    if (pipe(self.save) != 0)
        scene_fail("pipe");
    scene_process("journald", be_daemon, &daemon[1]);
    scene_thread(&saver, "saver", be_saver, &self);
    scene_run(&self.scene, handle_event, &self);
}
