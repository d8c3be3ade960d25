/* Watching data flags: perf_event breakpoints on every thread of a process, present and future, that run one BPF program. */
#ifndef ARGUS_RECORDER_LINUX_FLAGS_H
#define ARGUS_RECORDER_LINUX_FLAGS_H

#include <stdbool.h>

#include "argus/error.h"
#include "protocol.h"

struct bpf_object;
struct flags;

/* `object`: loaded, borrowed. */
struct argus_error *flags_create(struct bpf_object *object, struct flags **ret);
/* Ends all watching; NULL is fine. */
void flags_destroy(struct flags *flags);

/* Watches from now on. USAGE: no register is left, the address is not mapped or not aligned to its size; NOT_FOUND: there is no
 * such process; BUSY: it is watched already. `*ret_number`: for flags_remove(). */
struct argus_error *flags_add(struct flags *flags, const struct request_flag *wanted,
                              uint32_t *ret_number);
/* NOT_FOUND: no such number. */
struct argus_error *flags_remove(struct flags *flags, uint32_t number);

/* The flag `number`, 0 … FLAG_LIMIT - 1, and how often it was touched; false: there is none. */
bool flags_get(const struct flags *flags, uint32_t number, struct reply_flag *ret);

#endif
