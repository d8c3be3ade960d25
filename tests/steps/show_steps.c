/* show_steps FILE: prints the contents of a step file, one line per item, for tests. */
#include <inttypes.h>
#include <stdio.h>

#include "argus/steps.h"

static void show_events(const struct argus_step_event **at, const struct argus_step_event *end,
                        uint32_t step)
{
    static const char *const kinds[] = {"?", "call", "return", "skip", "signal"};
    for (; *at < end && (*at)->step == step; ++*at) {
        const struct argus_step_event *event = *at;
        printf("%s frame=%d address=0x%" PRIx64 " value=0x%" PRIx64 " returned=%d",
               kinds[event->kind], (int)event->frame, event->address, event->value,
               event->returned);
        printf(" arg1=0x%" PRIx64 " arg2=0x%" PRIx64 "\n", event->arguments[0],
               event->arguments[1]);
    }
}

static void show_steps(struct argus_steps *steps)
{
    const uint64_t *pcs;
    const struct argus_step_event *event;
    uint64_t registers[ARGUS_STEP_REGISTERS];
    uint8_t code[15];
    size_t count = argus_steps_pcs(steps, &pcs), event_count = argus_steps_events(steps, &event);
    const struct argus_step_event *end = event + event_count;
    for (uint32_t i = 0; i < count; i++) {
        bool has = argus_steps_registers(steps, i, registers);
        printf("step 0x%" PRIx64 " registers=%d code=%zu\n", pcs[i], has,
               argus_steps_code(steps, pcs[i], sizeof(code), code));
        show_events(&event, end, i);
    }
}

static void show_tables(const struct argus_steps *steps)
{
    const struct argus_step_frame *frames;
    const struct argus_step_image *images;
    size_t frame_count = argus_steps_frames(steps, &frames);
    size_t image_count = argus_steps_images(steps, &images);
    for (size_t i = 0; i < frame_count; i++)
        printf("frame %zu return=0x%" PRIx64 " function=0x%" PRIx64 " caller=%d\n", i,
               frames[i].return_address, frames[i].function, (int)frames[i].caller);
    for (size_t i = 0; i < image_count; i++)
        printf("image 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " stepped=%d id=%u %s\n",
               images[i].start, images[i].end, images[i].file_offset, images[i].stepped,
               images[i].build_id_bytes, images[i].path);
}

int main(int argc, char **argv)
{
    struct argus_steps *steps;
    if (argc != 2)
        return 2;
    struct argus_error *error = argus_steps_open(argv[1], &steps);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        argus_error_destroy(error);
        return 1;
    }
    const struct argus_steps_about *about = argus_steps_about(steps);
    printf("about pid=%" PRIu64 " tid=%" PRIu64 " vertex=%d identity=0x%" PRIx64
           " comm=%s exe=%s engine=%d begin=%d end=%d first=%d\n",
           about->pid, about->tid, (int)about->vertex, about->trace_identity, about->comm,
           about->exe, about->engine, about->begin, argus_steps_end(steps),
           (int)argus_steps_first_frame(steps));
    show_steps(steps);
    show_tables(steps);
    argus_steps_close(steps);
    return 0;
}
