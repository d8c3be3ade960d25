/* Processes that a D-Bus daemon starts because somebody has called a name without an owner. */
#ifndef ARGUS_LIVE_ACTIVATION_H
#define ARGUS_LIVE_ACTIVATION_H

#include "live/live_bus.h"
#include "live/live_wait.h"

/* Adds the processes that the daemon has started and that own no name yet, nor does a process that
 * they have started. `names`: all of the daemon. */
void live_add_activated(struct argus_live *live, uint32_t daemon, const live_bus_names *names,
                        struct live_candidates *ret);

#endif
