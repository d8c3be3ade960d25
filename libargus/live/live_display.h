/* X servers and Wayland compositors, as seen from the processes that are connected to them. */
#ifndef ARGUS_LIVE_DISPLAY_H
#define ARGUS_LIVE_DISPLAY_H

#include "live/live_wait.h"
#include "live/live_x11_cookie.h"

enum { LIVE_DISPLAY_BYTES = 64 };

enum live_display { LIVE_DISPLAY_NONE, LIVE_DISPLAY_X11, LIVE_DISPLAY_WAYLAND };

/* To what the process is connected. */
enum live_display live_display_of(struct argus_live *live, uint32_t process);
/* The X display of a process (LIVE_DISPLAY_BYTES), and the file with its cookie. False: it has
 * none, or this user may not see it. */
bool live_display_of_process(struct argus_live *live, uint32_t process, char *ret_display,
                             struct x11_authority *ret_authority);
/* Whether the process is connected to the server of this X display, and to which process
 * (ARGUS_LIVE_NONE: this user may not see it). */
bool live_uses_display(struct argus_live *live, uint32_t process, const char *display,
                       uint32_t *ret_server);
/* The same for argus itself, or else for the first process that has one. */
bool live_find_display(struct argus_live *live, char *ret_display,
                       struct x11_authority *ret_authority);
/* The main thread of the display's server; ARGUS_LIVE_NONE: it is not here. */
uint32_t live_display_server(struct argus_live *live, const char *display);

#endif
