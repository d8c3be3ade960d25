/* The victim asks its partner and waits; the partner asks back and waits for the victim. Broken after --hang-ms:
 * variant timeout: the partner gives up and answers; variant kill: a watchdog kills the partner. */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line ask, callback; /* victim's ends: its questions, and the partner's */
    struct line ask_end, callback_end;
    pid_t partner;
};

/* The partner's reaction to a bad question: it asks back first. */
static void ask_back(struct context *self)
{
    struct pollfd answer = {.fd = self->callback_end.in, .events = POLLIN};
    bool patient = scene_variant(&self->scene, "kill");
    line_send(self->callback_end, "?", 1);
    poll(&answer, 1, patient ? -1 : (int)self->scene.hang_ms);
}

static void be_partner(void *context)
{
    struct context *self = context;
    char question;
    while (line_receive(self->ask_end, &question, 1)) {
        scene_burn(2);
        if (question == 'h')
            ask_back(self);
        line_send(self->ask_end, "r", 1);
    }
}

/* Watches the user's events only to know when the bad one comes. */
static void be_watchdog(void *context)
{
    struct context *self = context;
    const struct line events = {.in = self->scene.hint_fd, .out = -1};
    char event;
    while (line_receive(events, &event, 1)) {
        if (event != 'h')
            continue;
        scene_sleep(self->scene.hang_ms);
        kill(self->partner, SIGKILL);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    char reply;
    if (line_send(self->ask, hang ? "h" : "n", 1))
        line_receive(self->ask, &reply, 1);
}

int main(int argc, char **argv)
{
    struct context self = {.partner = 0};
    struct line ask[2], callback[2];
    scene_begin(&self.scene, argc, argv, "timeout");
    scene_connect(&self.scene, ask);
    scene_connect(&self.scene, callback);
    self.ask = ask[0];
    self.ask_end = ask[1];
    self.callback = callback[0];
    self.callback_end = callback[1];
    self.partner = scene_process("partner", be_partner, &self);
    close(self.ask_end.in); /* so that the victim sees the end of a killed partner */
    if (scene_variant(&self.scene, "kill"))
        scene_process("watchdog", be_watchdog, &self);
    scene_run(&self.scene, handle_event, &self);
}
