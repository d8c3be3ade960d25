#include "report/report_pending.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/object_text.h"
#include "report/json.h"
#include "report/lines.h"
#include "slice/timeline.h"

/* To add a display server: how the name of its process begins, and what its messages are. */
static const struct {
    const char *name, *what;
} servers[] = {
    {"Xorg", "X server events"},
    {"Xwayland", "X server events"},
    {"Xvfb", "X server events"},
    {"Xephyr", "X server events"},
    {"Xnest", "X server events"},
    {"Xtigervnc", "X server events"},
    {"gnome-shell", "Wayland events"},
    {"kwin_wayland", "Wayland events"},
    {"weston", "Wayland events"},
    {"sway", "Wayland events"},
    {"WindowServer", "window server messages"},
    {"dbus-daemon", "D-Bus messages"},
    {"dbus-broker", "D-Bus messages"},
};

static const char *messages_of(const char *process)
{
    for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++)
        if (strncmp(process, servers[i].name, strlen(servers[i].name)) == 0)
            return servers[i].what;
    return "messages";
}

/* "button press, key press"; at most three kinds. */
static void list_events(uint32_t events, char *buffer, size_t bytes)
{
    size_t length = 0;
    int named = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < ARGUS_UI_EVENTS && length < bytes && named < 3; i++) {
        if (!(events >> i & 1))
            continue;
        int written = snprintf(buffer + length, bytes - length, "%s%s", named++ ? ", " : "",
                               argus_ui_event_name(i));
        length += written > 0 ? (size_t)written : 0;
    }
}

static const char *message_text(const struct argus_report_context *context,
                                const struct argus_pending *pending, char *buffer, size_t bytes)
{
    struct view view = view_of(context->graph);
    char thread[128];
    const struct argus_thread *sender = &view.threads[pending->sender];
    report_thread(context, pending->sender, thread, sizeof(thread));
    snprintf(buffer, bytes, "%s from %s", messages_of(view.processes[sender->process].name),
             thread);
    return buffer;
}

static const char *callback_text(const struct argus_report_context *context,
                                 const struct argus_pending *pending, char *buffer, size_t bytes)
{
    char thread[128];
    report_thread(context, pending->sender, thread, sizeof(thread));
    snprintf(buffer, bytes, "callbacks queued by %s", thread);
    return buffer;
}

static const char *ready_text(const struct argus_report_context *context,
                              const struct argus_pending *pending, char *buffer, size_t bytes)
{
    char object[96];
    const struct argus_arrival *ready = &pending->ready;
    const uint32_t no_descriptor = UINT32_MAX;
    (void)context;
    object_text(ready->inode, ready->peer, ready->type, object, sizeof(object));
    const char *what = object[0] ? object : "descriptor";
    if ((uint32_t)ready->fd == no_descriptor)
        snprintf(buffer, bytes, "%s", what);
    else
        snprintf(buffer, bytes, "%s (descriptor %u)", what, (uint32_t)ready->fd);
    return buffer;
}

static const char *event_text(const struct argus_report_context *context,
                              const struct argus_pending *pending, char *buffer, size_t bytes)
{
    char events[96];
    (void)context;
    list_events(pending->ui_events, events, sizeof(events));
    snprintf(buffer, bytes, "UI events (%s)", events);
    return buffer;
}

static const char *set_off_text(const struct argus_report_context *context,
                                const struct argus_pending *pending, char *buffer, size_t bytes)
{
    char events[96], thread[128];
    list_events(pending->ui_events, events, sizeof(events));
    if (pending->sender != ARGUS_NONE)
        report_thread(context, pending->sender, thread, sizeof(thread));
    if (pending->sender == ARGUS_NONE)
        snprintf(buffer, bytes, "%s", events);
    else
        snprintf(buffer, bytes, "%s%s%s", thread, events[0] ? ": " : "", events);
    return buffer;
}

/* To add a kind: a row. */
static const struct {
    const char *name;
    const char *(*text)(const struct argus_report_context *context,
                        const struct argus_pending *pending, char *buffer, size_t bytes);
} kinds[] = {
    [ARGUS_PENDING_MESSAGE] = {"message", message_text},
    [ARGUS_PENDING_CALLBACK] = {"callback", callback_text},
    [ARGUS_PENDING_READY] = {"ready", ready_text},
    [ARGUS_PENDING_UI_EVENT] = {"ui event", event_text},
    [ARGUS_PENDING_SET_OFF] = {"set off", set_off_text},
};

const char *report_pending(const struct argus_report_context *context,
                           const struct argus_pending *pending, char *buffer, size_t bytes)
{
    return kinds[pending->kind].text(context, pending, buffer, bytes);
}

static json_t *json_pending(const struct argus_report_context *context,
                            const struct argus_pending *pending)
{
    struct view view = view_of(context->graph);
    char text[320];
    const struct argus_thread *sender =
        pending->sender == ARGUS_NONE ? NULL : &view.threads[pending->sender];
    json_t *json = json_object();
    json_put(json, "kind", json_text(kinds[pending->kind].name));
    json_put(json, "process", json_text(sender ? view.processes[sender->process].name : NULL));
    json_put(json, "pid", sender ? json_ns(view.processes[sender->process].pid) : json_null());
    json_put(json, "tid", sender ? json_ns(sender->tid) : json_null());
    json_put(json, "since_ns", json_ns(pending->first_ns));
    json_put(json, "unread", json_boolean(pending->unread));
    json_put(json, "text", json_text(report_pending(context, pending, text, sizeof(text))));
    return json;
}

json_t *json_pendings(const struct argus_report_context *context,
                      const struct argus_pendings *pendings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < pendings->count; i++)
        json_add(list, json_pending(context, &pendings->items[i]));
    return list;
}
