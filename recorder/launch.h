/* Starting argus-recorder with the rights it needs. */
#ifndef ARGUS_RECORDER_LAUNCH_H
#define ARGUS_RECORDER_LAUNCH_H

#include "argus/error.h"

/* Runs `argus-recorder serve`, through sudo if we are not root, and returns once its socket is there. */
struct argus_error *launch_recorder(void);

#endif
