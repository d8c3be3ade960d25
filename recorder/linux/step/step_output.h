/* The items that the stepper writes: buffered, in order. */
#ifndef ARGUS_RECORDER_LINUX_STEP_OUTPUT_H
#define ARGUS_RECORDER_LINUX_STEP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "step_protocol.h"

struct step_output {
    int fd; /* borrowed, non-blocking */
    size_t length;
    bool failed; /* the reader has closed, or has read nothing for ten seconds */
    uint8_t buffer[1u << 17];
};

/* An item of two parts, the second of which may be empty. */
void step_output_put(struct step_output *output, enum step_item_kind kind, const void *head,
                     size_t head_bytes, const void *tail, size_t tail_bytes);
void step_output_flush(struct step_output *output);

#endif
