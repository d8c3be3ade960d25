/* Converts all times in a record from ticks to ns, so that files have a timebase of 1/1 on every
 * machine, and the recorder's clocks are comparable with its records. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_TIMES_H
#define ARGUS_RECORDER_MACOS_KDEBUG_TIMES_H

#include <stdint.h>

#include "argus/record.h"

/* `denom` is not 0. UINT64_MAX, which means never, stays, and so does a value that would
 * overflow. */
uint64_t kdebug_ticks_to_ns(uint64_t ticks, uint32_t numer, uint32_t denom);

/* The timestamp, and the arguments of this kind of record that are points in time. */
void kdebug_times_to_ns(struct argus_record *record, uint32_t numer, uint32_t denom);

#endif
