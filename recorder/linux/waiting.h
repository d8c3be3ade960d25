/* The stacks of threads that wait for long when the recording ends (bpf/lasting.h). */
#ifndef ARGUS_RECORDER_LINUX_WAITING_H
#define ARGUS_RECORDER_LINUX_WAITING_H

#include "argus/error.h"
#include "argus/trace.h"
#include "base/vec.h"
#include "linux/shared.h"

struct bpf_object;
struct interpreters;

/* What was found at the last look. All zero is empty. */
struct waiting {
    VEC(struct argus_snapshot) snapshots; /* their stacks are owned */
    VEC(struct argus_late_stack) late;    /* of each of them */
    VEC(struct bpf_stack) interpreted;    /* … and the frames of its interpreter; count 0: none */
};

/* Looks anew, while the programs run: copies at most `stack_bytes` of each stack. A kernel that has no such iterator finds none. */
struct argus_error *waiting_look(struct waiting *waiting, struct bpf_object *object,
                                 const struct interpreters *interpreters, uint32_t stack_bytes);
struct argus_error *waiting_write(const struct waiting *waiting, struct argus_writer *writer);
void waiting_deinit(struct waiting *waiting);

#endif
