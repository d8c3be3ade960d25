/* Threads of Java programs that wait for each other. */
#ifndef ARGUS_LIVE_JAVA_H
#define ARGUS_LIVE_JAVA_H

#include "live/live_wait.h"

/* If the thread waits in the Java virtual machine for another thread of the program, or sleeps
 * there: sets the kind of `wait`, and fills `ret` with the thread that can end it. */
bool live_java_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret);

#endif
