/* What the BPF programs must know and forget while a category is left out (--max-overhead). */
#ifndef ARGUS_RECORDER_LINUX_SWITCHED_OFF_H
#define ARGUS_RECORDER_LINUX_SWITCHED_OFF_H

#include <stdint.h>

#include "argus/error.h"

struct bpf_object;

/* `categories`: bits of those that are left out from now on. */
struct argus_error *switched_off_set(struct bpf_object *object, uint32_t categories);
/* Forgets what the programs remember of system calls, messages and callbacks, because they have not
 * seen the latest ones: as at the beginning of a recording. */
void call_state_forget(struct bpf_object *object);

#endif
