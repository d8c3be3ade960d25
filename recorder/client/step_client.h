/* The front end's side of the stepper: starts `argus-recorder step` and reads its items. Nothing
 * here prints. A client belongs to one thread. */
#ifndef ARGUS_RECORDER_STEP_CLIENT_H
#define ARGUS_RECORDER_STEP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "argus/error.h"
#include "step_patterns.h"
#include "step_protocol.h"

struct step_client;

/* An item of the stepper; `kind` 0: none yet. */
struct step_said {
    uint32_t kind; /* enum step_item_kind */
    uint32_t bytes;
    const uint8_t *data; /* borrowed until the next call; unaligned, so copy a struct out of it */
};

/* Starts the stepper, with the caller's rights or through sudo, and passes it the request. */
struct argus_error *step_client_start(const struct step_request *request, bool with_sudo,
                                      struct step_client **ret);
/* The next item; waits 200 ms for it at most. IO: the stepper ended without a word. */
struct argus_error *step_client_next(struct step_client *client, struct step_said *ret);
/* Asks the stepper to release the thread; its items continue up to STEP_ITEM_END. */
void step_client_stop(struct step_client *client);
/* Ends the stepper, which releases the thread, and waits for it. */
void step_client_close(struct step_client *client);

#endif
