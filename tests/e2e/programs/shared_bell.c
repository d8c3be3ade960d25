/* Two processes that share a semaphore in memory: no message is sent, only a futex is woken
 * late. */
#include <semaphore.h>
#include <sys/mman.h>

#include "scene.h"

struct bells {
    sem_t ask, answer;
    unsigned ms;
};

struct context {
    struct scene scene;
    struct bells *bells;
};

/* The culprit, when it is long. */
static void polish_brass(unsigned ms)
{
    scene_burn(ms);
}

static void be_ringer(void *context)
{
    struct bells *bells = ((struct context *)context)->bells;
    while (sem_wait(&bells->ask) == 0) {
        polish_brass(bells->ms);
        sem_post(&bells->answer);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    self->bells->ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 4);
    sem_post(&self->bells->ask);
    sem_wait(&self->bells->answer);
}

int main(int argc, char **argv)
{
    struct context self;
    scene_begin(&self.scene, argc, argv, "");
    self.bells =
        mmap(NULL, sizeof(*self.bells), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (self.bells == MAP_FAILED || sem_init(&self.bells->ask, 1, 0) != 0 ||
        sem_init(&self.bells->answer, 1, 0) != 0)
        scene_fail("bells");
    scene_process("bellringer", be_ringer, &self);
    scene_run(&self.scene, handle_event, &self);
}
