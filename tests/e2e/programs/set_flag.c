/* The main thread polls a global flag until it gives up. Its loader sets it:
 * late, because it computes (busy), or because the saver has the lock that it needs (locked). Or
 * nobody sets it: the loader takes the request and forgets (forgets), or any of two loaders would
 * (several), or the loader has ended and a thread that only resets the flag is there (reset).
 * The main thread sleeps in its loop, or calls sched_yield() (sched), or does neither (spin); then a
 * timer's signal ends the loop in the end. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    int requests[2];
    unsigned most_ms;
};

static volatile int is_loaded;
static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint saving_ms;

static void decode_picture(unsigned ms)
{
    scene_burn(ms);
}

static void save_pictures(unsigned ms)
{
    pthread_mutex_lock(&shelf);
    scene_burn(ms);
    pthread_mutex_unlock(&shelf);
}

static void finish_loading(void)
{
    is_loaded = 1;
}

static void *be_loader(void *context)
{
    struct context *self = context;
    bool forgets = scene_variant(&self->scene, "forgets") || scene_variant(&self->scene, "several");
    unsigned ms;
    while (read(self->requests[0], &ms, sizeof(ms)) == sizeof(ms)) {
        bool hang = ms >= self->scene.hang_ms;
        if (hang && scene_variant(&self->scene, "reset"))
            return NULL;
        if (scene_variant(&self->scene, "locked")) {
            if (hang)
                usleep(20000); /* the saver is first */
            pthread_mutex_lock(&shelf);
            pthread_mutex_unlock(&shelf);
        } else if (!hang || !forgets) {
            decode_picture(ms);
        }
        if (!hang || !forgets)
            finish_loading();
    }
    return NULL;
}

static void *be_saver(void *context)
{
    for (;;) {
        unsigned ms = atomic_exchange(&saving_ms, 0);
        if (ms)
            save_pictures(ms);
        usleep(1000);
    }
    return context;
}

/* So that it does not take back what the loader has set. */
static void reset_pictures(void)
{
    if (!is_loaded)
        is_loaded = 0;
    usleep(7000);
}

static void *be_resetter(void *context)
{
    for (;;)
        reset_pictures();
    return context;
}

static void wait_until_loaded(unsigned most_ms)
{
    for (unsigned i = 0; i < most_ms; i++) {
        if (is_loaded)
            return;
        usleep(1000);
    }
}

/* As if the loader had set it. */
static void on_alarm(int signal)
{
    is_loaded = signal;
}

static void spin_until_loaded(void)
{
    while (!is_loaded)
        ;
}

static void yield_until_loaded(void)
{
    while (!is_loaded)
        sched_yield();
}

static void give_up_after(unsigned ms)
{
    struct itimerval timer = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void wait_for_loader(const struct context *self)
{
    bool spins = scene_variant(&self->scene, "spin");
    if (!spins && !scene_variant(&self->scene, "sched")) {
        wait_until_loaded(self->most_ms);
        return;
    }
    give_up_after(self->most_ms);
    if (spins)
        spin_until_loaded();
    else
        yield_until_loaded();
    give_up_after(0);
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 8);
    is_loaded = 0;
    if (hang && scene_variant(&self->scene, "locked"))
        atomic_store(&saving_ms, ms);
    if (write(self->requests[1], &ms, sizeof(ms)) != sizeof(ms))
        scene_fail("load");
    wait_for_loader(self);
}

int main(int argc, char **argv)
{
    static struct context self;
    pthread_t thread;
    scene_begin(&self.scene, argc, argv, "busy");
    bool is_set = scene_variant(&self.scene, "busy") || scene_variant(&self.scene, "locked");
    self.most_ms = is_set ? 2 * self.scene.hang_ms : self.scene.hang_ms;
    if (pipe(self.requests) != 0)
        scene_fail("pipe");
    scene_thread(&thread, "loader", be_loader, &self);
    if (scene_variant(&self.scene, "several"))
        scene_thread(&thread, "loader2", be_loader, &self);
    if (scene_variant(&self.scene, "locked"))
        scene_thread(&thread, "saver", be_saver, &self);
    if (scene_variant(&self.scene, "reset"))
        scene_thread(&thread, "resetter", be_resetter, &self);
    scene_run(&self.scene, handle_event, &self);
}
