/* The places in code that the records of a trace speak of: frames of stacks, samples, handlers. */
#ifndef ARGUS_EVENT_USED_FRAMES_H
#define ARGUS_EVENT_USED_FRAMES_H

#include "base/vec.h"
#include "event/machine.h"

/* A place of a process, once for each program that it ran. */
struct used_frame {
    uint64_t address; /* that is looked up: of a return address the byte before */
    uint64_t time_ns; /* when it was met first */
    uint32_t process;
    bool is_caller; /* the caller of an innermost frame */
};

struct used_frames {
    struct machine machine; /* the processes */
    VEC(struct used_frame) frames;
    uint64_t left_out; /* there are too many */
};

/* Reads the whole trace once. `ret` is uninitialized, and ready for used_frames_deinit() even after an error. */
struct argus_error *used_frames_read(struct used_frames *ret, const struct argus_trace *trace,
                                     argus_progress progress, void *context);
void used_frames_deinit(struct used_frames *frames);

#endif
