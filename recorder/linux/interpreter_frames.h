/* Interpreters (../interpreter_spec.h): which processes run one, the frames of copied stacks, and
 * the names of their code. bpf/interpreter.h reads the frames when it copies a stack. For threads
 * that are still blocked when a recording ends, this module reads them. */
#ifndef ARGUS_RECORDER_LINUX_INTERPRETER_FRAMES_H
#define ARGUS_RECORDER_LINUX_INTERPRETER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "linux/shared.h"
#include "server/backend.h"

struct bpf_object;

/* Before loading: sizes the maps, and fills settings->interpreters. */
void interpreters_configure(struct bpf_object *object, const struct backend_options *options,
                            struct bpf_settings *settings);

/* The reading side; all zero: there are none. */
struct interpreters {
    const struct probe_list *list; /* borrowed: sent by the front end; NULL: none */
    int processes_fd, frames_fd, codes_fd, additions_fd; /* maps; borrowed */
};

void interpreters_init(struct interpreters *interpreters, struct bpf_object *object,
                       const struct backend_options *options);

/* A process has mapped a file. */
void interpreters_on_image(const struct interpreters *interpreters,
                           const struct argus_image_entry *image, const char *path);

/* A process has executed another program. */
void interpreters_on_exec(const struct interpreters *interpreters, uint32_t pid);

/* The frames that the BPF programs stored for the copy with the ID `id` ^ ARGUS_STACK_INTERPRETED.
 * False: there are none. */
bool interpreters_frames(const struct interpreters *interpreters, uint64_t id,
                         struct bpf_stack *ret);

/* The frames of a thread that is blocked now. The caller checks afterwards that it was blocked
 * throughout. `stack` may be uninitialized; count 0: there are none. */
void interpreters_read(const struct interpreters *interpreters, const struct bpf_waiting *waiting,
                       struct bpf_stack *ret);

/* Writes the names of the code objects found. */
struct argus_error *interpreters_write(const struct interpreters *interpreters,
                                       struct argus_writer *writer);

#endif
