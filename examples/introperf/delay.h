/* What a made-slow function does before it goes on; the settings are those of delay.c. */
#ifndef EXAMPLES_INTROPERF_DELAY_H
#define EXAMPLES_INTROPERF_DELAY_H

/* Takes DELAY_MS, each DELAY_EVERY-th time. */
void delay(void);

/* Takes `ms` in the way of this name (delay_ways.c); NULL: sleeps. */
void delay_way(const char *name, long ms);

#endif
