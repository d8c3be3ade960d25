/* The threads that the BPF programs have seen polling (bpf/poller.h). */
#ifndef ARGUS_RECORDER_LINUX_POLLERS_H
#define ARGUS_RECORDER_LINUX_POLLERS_H

#include <stddef.h>

#include "argus/error.h"
#include "server/backend.h"

/* As backend_pollers(); `map_fd` and `terminals_fd` (bpf/typed.h) are borrowed. */
struct argus_error *pollers_read(int map_fd, int terminals_fd, struct backend_poller *ret,
                                 size_t room, size_t *ret_count);

#endif
