/* A small client of an X server, which asks the windows for a sign of life (_NET_WM_PING). */
#ifndef ARGUS_LIVE_X11_H
#define ARGUS_LIVE_X11_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "live/live_x11_cookie.h"

enum { X11_TITLE_BYTES = 128 };

struct x11_window {
    uint32_t id;
    uint32_t pid; /* of its program, as that says (_NET_WM_PID); 0: it does not */
    char title[X11_TITLE_BYTES];
    bool pings; /* it has promised to answer */
    bool has_answered;
};

typedef VEC(struct x11_window) x11_windows;

enum x11_answer {
    X11_ANSWERED,
    X11_NO_SERVER, /* nobody listens for this display */
    X11_DENIED,    /* it does not let this user in */
    X11_SILENT,    /* the server itself does not answer */
};

/* Lists the programs' windows of `display` (":0", ":1.0") and pings those that can answer. Waits
 * at most `patience_ns` for the answers. */
enum x11_answer x11_ping(const char *display, const struct x11_authority *authority,
                         uint64_t patience_ns, x11_windows *ret);

/* The path of the socket at which the display's server listens. False: it is on another machine. */
bool x11_socket_path(const char *display, char *ret, uint64_t bytes);

#endif
