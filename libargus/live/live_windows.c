/* Which windows do not answer their window manager's pings (X11). */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "live/live_around.h"
#include "live/live_display.h"
#include "live/live_x11.h"

/* As a name: a title is what its program likes, and may have been cut off. */
static uint32_t title_of(struct argus_live *live, const struct x11_window *window)
{
    char title[X11_TITLE_BYTES];
    snprintf(title, sizeof(title), "%s", window->title);
    utf8_repair_name(title, strlen(title));
    return live_text(live, title);
}

/* A program in a container, or on another machine (ssh -X), tells the ID that it has there. Here,
 * that may be another process, which then has no connection to a display. */
static uint32_t owner_of(struct argus_live *live, const struct x11_window *window)
{
    uint32_t process = window->pid ? live_process(live, window->pid) : ARGUS_LIVE_NONE;
    bool is_another = process != ARGUS_LIVE_NONE && !live->processes.data[process].denied &&
                      live_display_of(live, process) == LIVE_DISPLAY_NONE;
    return is_another ? ARGUS_LIVE_NONE : process;
}

static void keep_window(struct around *around, const struct x11_window *window)
{
    struct argus_live *live = around->live;
    uint32_t process = owner_of(live, window);
    struct argus_live_window kept = {.thread = process == ARGUS_LIVE_NONE
                                                   ? ARGUS_LIVE_NONE
                                                   : live->processes.data[process].first_thread,
                                     .title = title_of(live, window),
                                     .pings = window->pings,
                                     .answers = window->has_answered};
    if (!vec_push(&around->windows, kept))
        live->no_memory = true;
    if (window->pings && !window->has_answered)
        live_keep_thread(around, kept.thread);
}

void live_ask_windows(struct around *around)
{
    static const enum argus_live_display displays[] = {
        [X11_ANSWERED] = ARGUS_LIVE_DISPLAY_ANSWERS,
        [X11_NO_SERVER] = ARGUS_LIVE_DISPLAY_NONE,
        [X11_DENIED] = ARGUS_LIVE_DISPLAY_DENIED,
        [X11_SILENT] = ARGUS_LIVE_DISPLAY_SILENT,
    };
    char display[LIVE_DISPLAY_BYTES];
    struct x11_authority authority;
    x11_windows windows = {0};
    if (!live_find_display(around->live, display, &authority))
        return;
    enum x11_answer answer = x11_ping(display, &authority, LIVE_PATIENCE_NS, &windows);
    around->ret->display = displays[answer];
    if (answer == X11_SILENT) {
        around->ret->server = live_display_server(around->live, display);
        live_keep_thread(around, around->ret->server);
    }
    for (size_t i = 0; answer == X11_ANSWERED && i < windows.length; i++)
        keep_window(around, &windows.data[i]);
    vec_deinit(&windows);
}
