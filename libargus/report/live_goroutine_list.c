#include "report/live_goroutine_list.h"

#include <inttypes.h>

#include "report/json.h"
#include "report/lines.h"
#include "report/live_words.h"

enum { MOST_PRINTED = 16, MOST_FRAMES = 6 };

static void print_frames(const struct argus_sink *sink, const struct argus_live *live,
                         const struct argus_live_answer *answer,
                         const struct argus_live_goroutines *group)
{
    char text[LIVE_TEXT_BYTES];
    uint32_t printed = 0;
    for (uint32_t i = 0; i < group->frame_count && printed < MOST_FRAMES; i++, printed++)
        argus_sink_printf(
            sink, "    %s\n",
            live_frame_text(live, &answer->frames[group->first_frame + i], text, sizeof(text)));
    if (group->frame_count > printed)
        argus_sink_printf(sink, "    … %u more frames\n", group->frame_count - printed);
}

static void print_group(const struct argus_sink *sink, const struct argus_live *live,
                        const struct argus_live_answer *answer,
                        const struct argus_live_goroutines *group)
{
    char name[LIVE_TEXT_BYTES];
    argus_sink_printf(sink, "  goroutine %" PRIu64, group->id);
    if (group->count > 1)
        argus_sink_printf(sink, " and %u %s%s", group->count - 1,
                          group->count > 2 ? "others" : "other",
                          group->frame_count ? " with this stack" : "");
    argus_sink_printf(sink, ": %s", live_goroutine_text(group->state));
    if (group->thread != ARGUS_LIVE_NONE)
        argus_sink_printf(sink, ", in %s",
                          live_thread_text(live, group->thread, name, sizeof(name)));
    if (group->has_channel)
        argus_sink_printf(sink, "; it has the main goroutine's channel on its stack");
    argus_sink_printf(sink, "\n");
    print_frames(sink, live, answer, group);
}

/* The stack of the main goroutine stands above already. */
void report_goroutines(const struct argus_sink *sink, const struct argus_live *live,
                       const struct argus_live_answer *answer)
{
    uint32_t printed = 0, more = answer->goroutines_left_out;
    for (size_t i = 0; i < answer->goroutine_count; i++) {
        const struct argus_live_goroutines *group = &answer->goroutines[i];
        if (group->id == 1 && group->count == 1)
            continue;
        if (printed == 0)
            report_heading(sink, "Other goroutines of the program");
        if (printed++ < MOST_PRINTED)
            print_group(sink, live, answer, group);
        else
            more += group->count;
    }
    if (more)
        argus_sink_printf(sink, "  … %u more goroutines\n", more);
}

static json_t *stack_of(const struct argus_live *live, const struct argus_live_answer *answer,
                        const struct argus_live_goroutines *group)
{
    json_t *array = json_array();
    char text[LIVE_TEXT_BYTES];
    for (uint32_t i = 0; i < group->frame_count; i++)
        json_add(array, json_text(live_frame_text(live, &answer->frames[group->first_frame + i],
                                                  text, sizeof(text))));
    return array;
}

json_t *json_goroutines(const struct argus_live *live, const struct argus_live_answer *answer)
{
    json_t *array = json_array();
    for (size_t i = 0; i < answer->goroutine_count; i++) {
        const struct argus_live_goroutines *group = &answer->goroutines[i];
        json_t *object = json_object();
        json_put(object, "id", json_integer((json_int_t)group->id));
        json_put(object, "count", json_integer(group->count));
        json_put(object, "text", json_text(live_goroutine_text(group->state)));
        json_put(object, "tid",
                 group->thread == ARGUS_LIVE_NONE
                     ? json_null()
                     : json_integer(argus_live_thread_at(live, group->thread)->tid));
        json_put(object, "has_channel", json_boolean(group->has_channel));
        json_put(object, "stack", stack_of(live, answer, group));
        json_put(object, "stack_complete", json_boolean(group->frame_count && !group->is_cut));
        json_add(array, object);
    }
    return array;
}
