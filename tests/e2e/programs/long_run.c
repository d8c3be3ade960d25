/* The main thread itself computes for long. Variants: plain; chatty (with occasional short
 * sleeps). */
#include "scene.h"

/* The costly function. */
static void measure_lines(unsigned ms)
{
    scene_burn(ms);
}

static void layout_document(const struct scene *scene, unsigned ms)
{
    bool chatty = scene_variant(scene, "chatty");
    for (unsigned done_ms = 0; done_ms < ms; done_ms += 100) {
        measure_lines(ms - done_ms < 100 ? ms - done_ms : 100);
        if (chatty)
            scene_sleep(1);
    }
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    layout_document(scene, hang ? scene->hang_ms : scene_jitter(scene, 6));
}

int main(int argc, char **argv)
{
    struct scene scene;
    scene_begin(&scene, argc, argv, "plain");
    scene_run(&scene, handle_event, &scene);
}
