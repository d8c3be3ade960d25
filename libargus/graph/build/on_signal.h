/* Signals and interval timers: on_signal.c. */
#ifndef ARGUS_GRAPH_ON_SIGNAL_H
#define ARGUS_GRAPH_ON_SIGNAL_H

#include <stdint.h>

struct builder;

/* The state of this feature: the latest signals, and the interval timers that are armed. */
struct signals *signals_create(void);
void signals_destroy(struct signals *signals);
/* What was sent, or armed, so far does not count any more. */
void signals_forget_sent(struct signals *signals);
void signals_forget_itimers(struct signals *signals);

/* Notes which signal stopped `thread`. */
void signal_note_stop(struct builder *builder, uint32_t thread);

#endif
