/* The key to an X server. */
#ifndef ARGUS_LIVE_X11_COOKIE_H
#define ARGUS_LIVE_X11_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#define X11_COOKIE_NAME "MIT-MAGIC-COOKIE-1"

enum { X11_AUTHORITY_BYTES = 256 };

#define X11_ANY_OWNER UINT32_MAX

/* A file with cookies. */
struct x11_authority {
    char path[X11_AUTHORITY_BYTES]; /* "": ~/.Xauthority */
    uint32_t owner; /* it is read only if it belongs to this user; or X11_ANY_OWNER */
};

struct x11_cookie {
    uint8_t bytes[16];
};

/* Reads the cookie of `display` from the file. False: there is none. */
bool x11_find_cookie(const struct x11_authority *authority, const char *display,
                     struct x11_cookie *ret);

#endif
