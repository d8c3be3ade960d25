/* Whether a thread gets past an instruction that touches a watched address. */
#ifndef ARGUS_RECORDER_LINUX_FLAG_CHECK_H
#define ARGUS_RECORDER_LINUX_FLAG_CHECK_H

#include <stdbool.h>

#include "argus/error.h"

struct bpf_program;

/* Tries it with a thread and a variable of the recorder itself, unless *is_checked; sets that on
 * success. UNSUPPORTED: the thread did not get past, so no thread would. Any other failure is no
 * error here: the watch itself will report it. */
struct argus_error *flag_check_kernel(bool *is_checked, struct bpf_program *program);

#endif
