/* Which processes have windows. */
#ifndef ARGUS_RECORDER_WINDOWS_H
#define ARGUS_RECORDER_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/poll_set.h"

/* Whether the process is connected to a display server. True if unknown. */
bool process_has_window(uint32_t pid);

/* Whether an ancestor in the same session has windows, and the process has none. False if
 * unknown. */
bool process_works_for_windows(uint32_t pid);

/* Whether a descriptor of an array or bitmap is the process's connection to a display server. False
 * if unknown. */
bool poll_set_has_display(const struct poll_set *set, uint32_t pid);

/* Whether data that the process sent to a socket is still unread. False if unknown. */
bool process_has_untaken(uint32_t pid);

/* Whether data that the process's display server sent to any of its clients is still unread. Asked
 * is the process that called listen(): for Xwayland that is the compositor, of which only its own
 * clients are known then. False if unknown, and for displays by TCP. */
bool display_has_untaken(uint32_t pid);

#endif
