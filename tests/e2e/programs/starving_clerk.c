/* The clerk's work is short, but longer than the little time that the scheduler leaves an idle
 * task, and the clerk gets no CPU: threads of higher priority are busy on it. */
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line client, clerk;
};

static void pin_to_cpu(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void copy_letter(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_clerk(void *context)
{
    const struct sched_param idle = {.sched_priority = 0};
    pin_to_cpu(1);
    sched_setscheduler(0, SCHED_IDLE, &idle);
    line_serve(((struct context *)context)->clerk, copy_letter);
}

/* The culprit, on the clerk's cpu. */
static void be_furnace(void *context)
{
    struct context *self = context;
    const struct line events = {.in = self->scene.hint_fd, .out = -1};
    char event;
    pin_to_cpu(1);
    while (line_receive(events, &event, 1)) {
        if (event != 'h')
            continue;
        setpriority(PRIO_PROCESS, 0, -20);
        scene_burn(self->scene.hang_ms);
        setpriority(PRIO_PROCESS, 0, 0);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    (void)hang;
    line_ask(self->client, (struct work){.before_ms = 25});
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "unix");
    scene_connect(&self.scene, ends);
    self.client = ends[0];
    self.clerk = ends[1];
    scene_process("clerk", be_clerk, &self);
    scene_process("furnace", be_furnace, &self);
    scene_run(&self.scene, handle_event, &self);
}
