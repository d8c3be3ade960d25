/* Names of what probes report, as in share/probes.conf and for people. */
#include "argus/event.h"

const char *argus_ui_event_name(uint32_t kind)
{
    static const char *const names[ARGUS_UI_EVENTS] = {
        [ARGUS_UI_OTHER] = "other",
        [ARGUS_UI_KEY_PRESS] = "key press",
        [ARGUS_UI_KEY_RELEASE] = "key release",
        [ARGUS_UI_BUTTON_PRESS] = "button press",
        [ARGUS_UI_BUTTON_RELEASE] = "button release",
        [ARGUS_UI_MOTION] = "motion",
        [ARGUS_UI_SCROLL] = "scroll",
        [ARGUS_UI_TOUCH] = "touch",
        [ARGUS_UI_ENTER] = "enter",
        [ARGUS_UI_LEAVE] = "leave",
        [ARGUS_UI_FOCUS] = "focus",
        [ARGUS_UI_EXPOSE] = "expose",
        [ARGUS_UI_RESIZE] = "resize",
        [ARGUS_UI_CLOSE] = "close",
    };
    return kind < ARGUS_UI_EVENTS ? names[kind] : "unknown";
}

const char *argus_probe_shape_name(uint32_t shape)
{
    static const char *const names[ARGUS_PROBE_SHAPES] = {
        [ARGUS_PROBE_QUEUE] = "queue",         [ARGUS_PROBE_CANCEL] = "cancel",
        [ARGUS_PROBE_BEGIN] = "begin",         [ARGUS_PROBE_END] = "end",
        [ARGUS_PROBE_TURN] = "turn",           [ARGUS_PROBE_UI] = "ui",
        [ARGUS_PROBE_READ] = "read",           [ARGUS_PROBE_HANDLER] = "handler",
        [ARGUS_PROBE_NOTE] = "note",           [ARGUS_PROBE_FLAG_WRITE] = "flag_write",
        [ARGUS_PROBE_FLAG_READ] = "flag_read",
    };
    return shape < ARGUS_PROBE_SHAPES && names[shape] ? names[shape] : "unknown";
}
