/* The main thread writes more than a pipe holds, and the reader is slow to take it. Variants: busy, sleep. */
#include <stdlib.h>

#include "scene.h"

#define PAGE_BYTES (160u << 10) /* a pipe holds 64 KiB */

struct page {
    struct work work;
    char content[PAGE_BYTES];
};

struct context {
    struct scene scene;
    struct line reader, writer;
    struct page page;
};

static void print_page(const struct work *work)
{
    scene_work(work, work->before_ms);
}

/* Reads the head of a page, works, and only then reads the rest. */
static void be_printer(void *context)
{
    struct context *self = context;
    while (line_receive(self->reader, &self->page.work, sizeof(self->page.work))) {
        print_page(&self->page.work);
        line_receive(self->reader, self->page.content, PAGE_BYTES);
    }
}

static void handle_event(void *context, bool hang)
{
    struct context *self = context;
    self->page.work = (struct work){
        .before_ms = hang ? self->scene.hang_ms : scene_jitter(&self->scene, 5),
        .sleeping = scene_variant(&self->scene, "sleep"),
    };
    line_send(self->writer, &self->page, sizeof(self->page));
}

int main(int argc, char **argv)
{
    static struct context self;
    const struct scene pipes = {.variant = "pipe"};
    struct line ends[2];
    scene_begin(&self.scene, argc, argv, "busy");
    scene_connect(&pipes, ends);
    self.writer = ends[0];
    self.reader = ends[1];
    scene_process("printer", be_printer, &self);
    scene_run(&self.scene, handle_event, &self);
}
