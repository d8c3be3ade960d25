/* A stepping engine of the front end: LLDB's. It reports the same items as the stepper
 * (recorder/step_protocol.h), so that they are processed in the same way. */
#ifndef ARGUS_PLUGIN_STEP_ENGINE_H
#define ARGUS_PLUGIN_STEP_ENGINE_H

#include <stdint.h>

#include "argus/error.h"
#include "recorder/step_patterns.h"
#include "recorder/step_protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* LLDB makes one to three thousand steps a second. */
#define STEP_ENGINE_MOST 10000u

struct step_listener {
    void *context;
    /* Handles one item; false: stop stepping. */
    bool (*on_item)(void *context, uint32_t kind, const void *head, uint32_t head_bytes,
                    const void *tail, uint32_t tail_bytes);
};

/* Steps the selected thread of the selected process, which is stopped. Begins at the request's
 * place, or with STEP_FROM_ANYWHERE where the thread is. `function`: the name of the place, if the
 * request has none; NULL: it has one. The process is stopped afterwards, too. `data`: the
 * host's. */
typedef struct argus_error *(*step_engine)(void *data, const struct step_request *request,
                                           const char *function,
                                           const struct step_listener *listener);

#ifdef __cplusplus
}
#endif
#endif
