/* Streams that show text as base/shown.h says: every command prints through one. */
#ifndef ARGUS_PLUGIN_SHOWN_OUTPUT_H
#define ARGUS_PLUGIN_SHOWN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A stream that filters what it passes on to `to`; NULL without memory. Flushing it flushes `to`.
 * fclose() returns EOF if anything could not be written; it closes `to` if `owned`. */
FILE *shown_output_open(FILE *to, bool colours, bool owned);

/* The same for `to` that is not owned. What would pass on more than `most_bytes` is an error of the
 * stream. */
FILE *shown_output_open_limited(FILE *to, bool colours, uint64_t most_bytes);

#endif
