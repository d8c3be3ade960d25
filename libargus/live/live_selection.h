/* Waits for the clipboard, or another selection of an X server. */
#ifndef ARGUS_LIVE_SELECTION_H
#define ARGUS_LIVE_SELECTION_H

#include "live/live_wait.h"

/* If the thread waits for the contents of a selection: sets the kind of `wait`, and fills `ret`
 * with the processes that own one. */
bool live_selection(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret);

#endif
