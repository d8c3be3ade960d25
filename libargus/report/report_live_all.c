/* What is frozen, if nobody said which process: windows, and the answer for each suspect. */
#include <stdio.h>

#include "argus/report.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/live_words.h"
#include "report/report_live.h"

static const char *const displays[] = {
    [ARGUS_LIVE_DISPLAY_NONE] = "no X server was found",
    [ARGUS_LIVE_DISPLAY_ANSWERS] = NULL,
    [ARGUS_LIVE_DISPLAY_DENIED] = "the X server does not let this user in, so its windows were not "
                                  "asked; set DISPLAY and XAUTHORITY",
    [ARGUS_LIVE_DISPLAY_SILENT] = "the X server does not answer, so all its windows are frozen",
};

static const char *owner_text(const struct argus_live *live, const struct argus_live_window *window,
                              char *buffer, size_t bytes)
{
    return window->thread != ARGUS_LIVE_NONE ? live_thread_text(live, window->thread, buffer, bytes)
                                             : "a process that is not known";
}

static void print_window(const struct argus_sink *sink, const struct argus_live *live,
                         const struct argus_live_window *window)
{
    char name[LIVE_TEXT_BYTES];
    argus_sink_printf(sink, "  \"%s\" of %s %s\n", argus_live_text(live, window->title),
                      owner_text(live, window, name, sizeof(name)),
                      !window->pings    ? "cannot be asked (_NET_WM_PING)"
                      : window->answers ? "answers"
                                        : "does not answer");
}

static void report_overview(const struct argus_sink *sink, const struct argus_live *live,
                            const struct argus_live_overview *overview)
{
    report_heading(sink, "Windows");
    for (size_t i = 0; i < overview->window_count; i++)
        print_window(sink, live, &overview->windows[i]);
    if (displays[overview->display])
        argus_sink_printf(sink, "  %s\n", displays[overview->display]);
    else if (!overview->window_count)
        argus_sink_printf(sink, "  the X server has no windows of programs\n");
    if (overview->has_wayland)
        argus_sink_printf(sink, "  windows of Wayland: no program may ask them\n");
}

static json_t *window_object(const struct argus_live *live, const struct argus_live_window *window)
{
    json_t *object = json_object();
    bool is_known = window->thread != ARGUS_LIVE_NONE;
    json_put(object, "title", json_text(argus_live_text(live, window->title)));
    json_put(object, "pid",
             is_known ? json_integer(argus_live_thread_at(live, window->thread)->tid)
                      : json_null());
    json_put(object, "pings", json_boolean(window->pings));
    json_put(object, "answers", json_boolean(window->answers));
    return object;
}

static json_t *json_overview(const struct argus_live *live,
                             const struct argus_live_overview *overview)
{
    static const char *const names[] = {"none", "answers", "denied", "silent"};
    json_t *object = json_object(), *windows = json_array();
    for (size_t i = 0; i < overview->window_count; i++)
        json_add(windows, window_object(live, &overview->windows[i]));
    json_put(object, "display", json_text(names[overview->display]));
    json_put(object, "wayland", json_boolean(overview->has_wayland));
    json_put(object, "windows", windows);
    return object;
}

/* The sentence at the beginning. */
static void print_headline(const struct argus_sink *sink, const struct argus_live *live,
                           const struct argus_live_overview *overview)
{
    char name[LIVE_TEXT_BYTES], text[2 * LIVE_TEXT_BYTES];
    for (size_t i = 0; i < overview->window_count; i++) {
        const struct argus_live_window *window = &overview->windows[i];
        if (!window->pings || window->answers)
            continue;
        snprintf(text, sizeof(text), "The window \"%s\" of %s does not answer.",
                 argus_live_text(live, window->title),
                 owner_text(live, window, name, sizeof(name)));
        report_wrapped(sink, 0, text);
        return;
    }
    report_wrapped(
        sink, 0,
        overview->display == ARGUS_LIVE_DISPLAY_SILENT ? "The X server does not answer."
        : overview->thread_count
            ? "No window is known not to answer. These main threads have not moved for "
              "half a second, and wait for something that another thread should end:"
            : "No window is known not to answer, and no main thread waits for a lock, an "
              "unread request, or the kernel. Give the ID or name of the process that "
              "seems frozen.");
}

static void print_answers(const struct argus_sink *sink, const struct argus_live *live,
                          const struct argus_live_overview *overview,
                          const struct argus_live_answer *answers, size_t count)
{
    char text[2 * LIVE_TEXT_BYTES];
    for (size_t i = 0; i < count; i++) {
        argus_sink_printf(sink, "  %zu. ", i + 1);
        report_wrapped(sink, 5, live_summary_text(live, &answers[i], text, sizeof(text)));
    }
    if (count < overview->thread_count)
        argus_sink_printf(sink, "  … %zu more\n", overview->thread_count - count);
}

static json_t *json_all(struct argus_live *live, const struct argus_live_overview *overview,
                        const struct argus_live_answer *answers, size_t count)
{
    json_t *object = json_overview(live, overview), *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_add(array, json_live(live, overview->threads[i], &answers[i], NULL));
    json_put(object, "answers", array);
    return object;
}

struct argus_error *argus_report_live_all(const struct argus_sink *sink, struct argus_live *live,
                                          const struct argus_live_overview *overview,
                                          const struct argus_live_answer *answers, size_t count,
                                          bool json)
{
    if (json)
        return json_write(sink, "argus-why-all 1", json_all(live, overview, answers, count));
    print_headline(sink, live, overview);
    print_answers(sink, live, overview, answers, count);
    report_overview(sink, live, overview);
    if (!count)
        return NULL;
    argus_sink_printf(sink, "\n");
    return argus_report_live(sink, live, overview->threads[0], &answers[0], false, NULL);
}
