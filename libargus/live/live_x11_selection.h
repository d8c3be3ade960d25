/* Selections of an X server: the clipboard and what is marked. */
#ifndef ARGUS_LIVE_X11_SELECTION_H
#define ARGUS_LIVE_X11_SELECTION_H

#include "live/live_x11.h"

enum { X11_SELECTIONS = 3 };

struct x11_owner {
    const char *selection; /* "CLIPBOARD"; static */
    uint32_t pid;          /* as the server sees it */
};

/* The processes that own selections. Returns their number; 0: none, or the server does not tell. */
uint32_t x11_selection_owners(const char *display, const struct x11_authority *authority,
                              struct x11_owner ret[X11_SELECTIONS]);

#endif
