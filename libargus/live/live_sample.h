/* Two ways to look at a running thread again and again. */
#ifndef ARGUS_LIVE_SAMPLE_H
#define ARGUS_LIVE_SAMPLE_H

#include "live/live_data.h"

typedef void live_take(void *context, const struct live_moment *moment);

/* By perf_event: calls `take` for each sample. False: the kernel does not allow it. */
bool live_perf(uint32_t tid, uint64_t duration_ns, live_take *take, void *context);

/* By short stops (ptrace), of a thread that runs. False: not allowed. */
bool live_stops(uint32_t pid, uint32_t tid, uint64_t duration_ns, live_take *take, void *context);

/* Samples a running thread for `duration_ns`. The caller frees with live_samples_deinit(). */
struct argus_error *live_sample(struct argus_live *live, uint32_t thread, uint64_t duration_ns,
                                struct argus_live_samples *ret);
void live_samples_deinit(struct argus_live_samples *samples);

/* --- live_loop.c --- */

/* The loop in which a sleeping thread looks at variables again and again. */
void live_loop_of(struct argus_live *live, uint32_t thread, struct argus_live_loop *ret);

/* The loop around these frames. `is_sample`: the thread runs, and only a loop that does nothing but
 * look at variables counts. `*ret_key` is equal for equal loops. False: there is none. */
bool live_loop(struct argus_live *live, uint32_t thread, const uint64_t *frames, size_t count,
               bool is_sample, struct argus_live_loop *ret, uint64_t *ret_key);

#endif
