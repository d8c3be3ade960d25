/* The stacks of threads that are in a long wait when the recording ends (bpf/lasting.h). */
#ifndef ARGUS_RECORDER_LINUX_WAITING_H
#define ARGUS_RECORDER_LINUX_WAITING_H

#include "argus/error.h"
#include "argus/trace.h"
#include "base/vec.h"
#include "linux/shared.h"

struct bpf_object;
struct interpreters;

/* The result of the last look. All zero is empty. */
struct waiting {
    VEC(struct argus_snapshot) snapshots; /* their stacks are owned */
    VEC(struct argus_late_stack) late;    /* of each of them */
    VEC(struct bpf_stack) interpreted;    /* the interpreter frames of each; count 0: none */
    VEC(struct argus_record) records;     /* ARGUS_ID_WAITING, also of waits without a stack */
};

/* Replaces the result by a new look, while the programs run: copies at most `stack_bytes` of each
 * stack. Finds none if the kernel lacks the iterator. */
struct argus_error *waiting_look(struct waiting *waiting, struct bpf_object *object,
                                 const struct interpreters *interpreters, uint32_t stack_bytes);
struct argus_error *waiting_write(const struct waiting *waiting, struct argus_writer *writer);
void waiting_deinit(struct waiting *waiting);

#endif
