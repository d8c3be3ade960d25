/* The places in code that occur in a trace's records: frames of stacks, samples, handlers. */
#ifndef ARGUS_EVENT_USED_FRAMES_H
#define ARGUS_EVENT_USED_FRAMES_H

#include "base/vec.h"
#include "event/machine.h"

/* A place in a process, once per program that the process executed. */
struct used_frame {
    uint64_t address; /* the address to look up: for a return address, the byte before it */
    uint64_t time_ns; /* time of its first occurrence */
    uint32_t process;
    bool is_caller; /* the caller of an innermost frame */
};

struct used_frames {
    struct machine machine; /* the processes */
    VEC(struct used_frame) frames;
    uint64_t left_out; /* number of places left out because there are too many */
};

/* Reads the whole trace once. `ret` is uninitialized; used_frames_deinit() must be called even
 * after an error. */
struct argus_error *used_frames_read(struct used_frames *ret, const struct argus_trace *trace,
                                     argus_progress progress, void *context);
void used_frames_deinit(struct used_frames *frames);

#endif
