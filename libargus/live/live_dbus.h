/* Method calls through a D-Bus daemon. */
#ifndef ARGUS_LIVE_DBUS_H
#define ARGUS_LIVE_DBUS_H

#include "live/live_wait.h"

/* If the thread waits for the answer to a D-Bus call: sets the kind, the name of the destination
 * and its unread bytes in `wait`, and fills `ret` with the processes that may have to answer.
 * False: it does not. */
bool live_dbus_call(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret);

#endif
