/* Which of Darwin's records belong to which category: for kdebug's filter. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_FILTER_H
#define ARGUS_RECORDER_MACOS_KDEBUG_FILTER_H

#include <stdint.h>

#include "macos/kdebug_layout.h"

/* The filter for a set of categories (bits of enum category). */
void kdebug_filter_fill(uint32_t categories, uint8_t ret[KDEBUG_FILTER_BYTES]);

#endif
