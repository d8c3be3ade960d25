/* A backend with invented records, for programs that run the recorder's server without root and
 * without BPF. It is the only row of backend_table. */
#ifndef ARGUS_TESTS_FAKE_BACKEND_H
#define ARGUS_TESTS_FAKE_BACKEND_H

#include <stdbool.h>

#include "recorder/server/backend.h"

/* Settings for the next calls. */
struct fake_state {
    bool create_fails, loses;
    unsigned alive; /* backends that exist now */
};

extern struct fake_state fake;

/* Ends the program, as a sanitizer would, if `fact` is false. */
void require(bool fact, const char *what);

#endif
