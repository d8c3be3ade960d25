/* Processes that a D-Bus daemon starts because a client has called a name without an owner. */
#ifndef ARGUS_LIVE_ACTIVATION_H
#define ARGUS_LIVE_ACTIVATION_H

#include "live/live_bus.h"
#include "live/live_wait.h"

/* Adds the processes that the daemon, or systemd for it, has started, if neither they nor processes
 * that they have started own a name yet. `caller`: the thread that waits for the answer; `names`:
 * all names of the daemon. */
void live_add_activated(struct argus_live *live, uint32_t caller, uint32_t daemon,
                        const live_bus_names *names, struct live_candidates *ret);

#endif
