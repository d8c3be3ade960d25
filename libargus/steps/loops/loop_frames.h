/* Functions whose loops say nothing about the program. */
#ifndef ARGUS_STEPS_LOOP_FRAMES_H
#define ARGUS_STEPS_LOOP_FRAMES_H

#include <stdbool.h>

/* Whether a function of this name waits for its caller. False for NULL. */
bool loop_is_waiting_function(const char *function);

#endif
