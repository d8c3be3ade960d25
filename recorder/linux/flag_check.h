/* Whether a thread gets past an instruction that touches a watched address. */
#ifndef ARGUS_RECORDER_LINUX_FLAG_CHECK_H
#define ARGUS_RECORDER_LINUX_FLAG_CHECK_H

#include <stdbool.h>

#include "argus/error.h"

struct bpf_program;

/* Tries it with a thread and a variable of our own, unless *is_checked; sets that when the thread got past. UNSUPPORTED: it did not, so
 * nobody's would. What else can fail is left to the watch itself: then there is no error here. */
struct argus_error *flag_check_kernel(bool *is_checked, struct bpf_program *program);

#endif
