/* A desktop notification about a kept hang (org.freedesktop.Notifications, over the user's session
 * bus). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_NOTICE_H
#define ARGUS_PLUGIN_COMMANDS_HANG_NOTICE_H

#include "argus/kept_hang.h"

/* Shows the notification. Leaves a process running that waits, at most an hour, until the user
 * clicks on the notification or it is closed. A click makes the page of `argus report` next to
 * `path` and opens it. NOT_FOUND: there is no session bus. */
struct argus_error *hang_notice_send(const char *path, const struct argus_kept_hang *hang);

#endif
