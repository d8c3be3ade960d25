/* A desktop notification about a hang that was kept (org.freedesktop.Notifications, over the user's session bus). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_NOTICE_H
#define ARGUS_PLUGIN_COMMANDS_HANG_NOTICE_H

#include "argus/kept_hang.h"

/* Shows it, and leaves a process behind that waits, for at most an hour, until the user clicks on it or it is gone: a click makes the
 * page of `argus report` beside `path` and opens it. NOT_FOUND: there is no session bus. */
struct argus_error *hang_notice_send(const char *path, const struct argus_kept_hang *hang);

#endif
