/* Victim, relay, vault: the vault is stopped by a signal, two hops away from the waiting process,
 * over loopback TCP. */
#include <signal.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line to_relay, relay, to_vault, vault;
    pid_t vault_pid;
};

static void fetch_key(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_vault(void *context)
{
    line_serve(((struct context *)context)->vault, fetch_key);
}

static void be_relay(void *context)
{
    struct context *self = context;
    struct work work;
    while (line_receive(self->relay, &work, sizeof(work))) {
        line_ask(self->to_vault, work);
        line_send(self->relay, "r", 1);
    }
}

static void be_jailer(void *context)
{
    struct context *self = context;
    const struct line events = {.in = self->scene.hint_fd, .out = -1};
    char event;
    while (line_receive(events, &event, 1)) {
        if (event != 'h')
            continue;
        kill(self->vault_pid, SIGSTOP);
        scene_sleep(self->scene.hang_ms);
        kill(self->vault_pid, SIGCONT);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    (void)hang;
    line_ask(self->to_relay, (struct work){.before_ms = scene_jitter(&self->scene, 4)});
}

int main(int argc, char **argv)
{
    struct context self;
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "tcp");
    scene_connect(&self.scene, ends);
    self.to_relay = ends[0];
    self.relay = ends[1];
    scene_connect(&self.scene, ends);
    self.to_vault = ends[0];
    self.vault = ends[1];
    self.vault_pid = scene_process("vault", be_vault, &self);
    scene_process("relay", be_relay, &self);
    scene_process("jailer", be_jailer, &self);
    scene_run(&self.scene, handle_event, &self);
}
