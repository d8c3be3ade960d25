/* The key to an X server. */
#ifndef ARGUS_LIVE_X11_COOKIE_H
#define ARGUS_LIVE_X11_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#define X11_COOKIE_NAME "MIT-MAGIC-COOKIE-1"

struct x11_cookie {
    uint8_t bytes[16];
};

/* Reads the cookie of `display` from the file (NULL: ~/.Xauthority). False: there is none. */
bool x11_find_cookie(const char *authority, const char *display, struct x11_cookie *ret);

#endif
