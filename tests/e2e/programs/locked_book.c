/* A file lock, held by a scribe that waits for dictation from a third process. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scene.h"

struct context {
    struct scene scene;
    struct line to_scribe, scribe, to_poet, poet;
    char book[64]; /* a path to it */
};

/* The culprit, when it is long. */
static void find_rhyme(const struct work *work, unsigned ms)
{
    scene_work(work, ms);
}

static void be_poet(void *context)
{
    line_serve(((struct context *)context)->poet, find_rhyme);
}

static void be_scribe(void *context)
{
    struct context *self = context;
    int fd = open(self->book, O_RDWR);
    unsigned ms;
    while (line_receive(self->scribe, &ms, sizeof(ms))) {
        flock(fd, LOCK_EX);
        line_send(self->scribe, "l", 1);
        line_ask(self->to_poet, (struct work){.before_ms = ms});
        flock(fd, LOCK_UN);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    static int fd = -1; /* of its own: a lock belongs to an open file */
    unsigned ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 5);
    char locked;
    if (fd < 0)
        fd = open(self->book, O_RDWR);
    line_send(self->to_scribe, &ms, sizeof(ms));
    line_receive(self->to_scribe, &locked, 1);
    flock(fd, LOCK_EX);
    scene_burn(1);
    flock(fd, LOCK_UN);
}

int main(int argc, char **argv)
{
    struct context self;
    struct line a[2], b[2];
    scene_begin(&self.scene, argc, argv, "unix");
    snprintf(self.book, sizeof(self.book), "/proc/self/fd/%d", memfd_create("book", 0));
    scene_connect(&self.scene, a);
    scene_connect(&self.scene, b);
    self.to_scribe = a[0];
    self.scribe = a[1];
    self.to_poet = b[0];
    self.poet = b[1];
    scene_process("scribe", be_scribe, &self);
    scene_process("poet", be_poet, &self);
    scene_run(&self.scene, handle_event, &self);
}
