/* Three locks, each held while waiting for the next; behind the last one is a slow process. */
#include <unistd.h>

#include "scene.h"

#define VAULTS 3

struct context {
    struct scene scene;
    pthread_mutex_t vaults[VAULTS];
    int orders[VAULTS][2]; /* to each keeper: its duration */
    struct line appraiser;
};

struct keeper {
    struct context *bank;
    unsigned level;
};

static void weigh_gold(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_appraiser(void *context)
{
    line_serve(*(struct line *)context, weigh_gold);
}

/* Locks its own vault, and asks for the next one while it holds that lock. */
static void open_vault(struct context *self, unsigned level, unsigned ms)
{
    pthread_mutex_lock(&self->vaults[level]);
    if (level + 1 < VAULTS) {
        if (write(self->orders[level + 1][1], &ms, sizeof(ms)) != sizeof(ms))
            scene_fail("order");
        scene_sleep(3); /* so that the next keeper has its vault already */
        pthread_mutex_lock(&self->vaults[level + 1]);
        pthread_mutex_unlock(&self->vaults[level + 1]);
    } else {
        line_ask(self->appraiser, (struct work){.before_ms = ms});
    }
    pthread_mutex_unlock(&self->vaults[level]);
}

static void *be_keeper(void *context)
{
    struct keeper *self = context;
    unsigned ms;
    while (read(self->bank->orders[self->level][0], &ms, sizeof(ms)) == sizeof(ms))
        open_vault(self->bank, self->level, ms);
    return NULL;
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 15);
    if (write(self->orders[0][1], &ms, sizeof(ms)) != sizeof(ms))
        scene_fail("order");
    scene_sleep(3);
    pthread_mutex_lock(&self->vaults[0]);
    pthread_mutex_unlock(&self->vaults[0]);
}

int main(int argc, char **argv)
{
    static struct context self;
    static struct keeper keepers[VAULTS];
    static const char *const names[VAULTS] = {"keeper-0", "keeper-1", "keeper-2"};
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.appraiser = ends[0];
    scene_process("appraiser", be_appraiser, &ends[1]);
    for (unsigned level = 0; level < VAULTS; level++) {
        pthread_t thread;
        pthread_mutex_init(&self.vaults[level], NULL);
        if (pipe(self.orders[level]) != 0)
            scene_fail("pipe");
        keepers[level] = (struct keeper){&self, level};
        scene_thread(&thread, names[level], be_keeper, &keepers[level]);
    }
    scene_run(&self.scene, handle_event, &self);
}
