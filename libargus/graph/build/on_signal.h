/* Signals and interval timers: on_signal.c. */
#ifndef ARGUS_GRAPH_ON_SIGNAL_H
#define ARGUS_GRAPH_ON_SIGNAL_H

#include <stdint.h>

struct builder;

/* The state of this feature: the signals that were sent last, the interval timers that were armed. */
struct signals *signals_create(void);
void signals_destroy(struct signals *signals);

/* Says of a thread that has stopped by which signal. */
void signal_note_stop(struct builder *builder, uint32_t thread);

#endif
