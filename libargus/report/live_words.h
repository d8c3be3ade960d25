/* Sentences about the living system. */
#ifndef ARGUS_REPORT_LIVE_WORDS_H
#define ARGUS_REPORT_LIVE_WORDS_H

#include "argus/live.h"

enum { LIVE_TEXT_BYTES = 1024 };

/* "editor [4711]", "thread worker [4713] of editor [4711]"; into `buffer`, which is returned; so
 * below. */
const char *live_thread_text(const struct argus_live *live, uint32_t thread, char *buffer,
                             size_t bytes);

/* "waits for mutex 0x55d0c0a8" */
const char *live_wait_text(const struct argus_live *live, const struct argus_live_wait *wait,
                           char *buffer, size_t bytes);

/* "waits to receive from a channel". Static; "" for NONE. */
const char *live_goroutine_text(enum argus_live_goroutine state);

/* "editor [4711] waits for mutex 0x55d0c0a8, which thread worker [4713] of editor [4711] holds" */
const char *live_step_text(const struct argus_live *live, const struct argus_live_answer *answer,
                           size_t step, char *buffer, size_t bytes);

/* The whole answer in one or two sentences. */
const char *live_summary_text(const struct argus_live *live, const struct argus_live_answer *answer,
                              char *buffer, size_t bytes);

/* What is uncertain about the answer, number `index`; NULL: there is no more. */
const char *live_uncertain_text(const struct argus_live *live,
                                const struct argus_live_answer *answer, size_t index, char *buffer,
                                size_t bytes);

/* "function (file.c:12)", or "image+0x12" for a frame without a name. */
const char *live_frame_text(const struct argus_live *live, const struct argus_live_frame *frame,
                            char *buffer, size_t bytes);

#endif
