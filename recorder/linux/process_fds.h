/* Questions about descriptors of another process: each is duplicated for a moment (pidfd_getfd(2),
 * Linux 5.6) and the copy is examined. This needs permission to trace the process; without it, the
 * answer is false. */
#ifndef ARGUS_RECORDER_LINUX_PROCESS_FDS_H
#define ARGUS_RECORDER_LINUX_PROCESS_FDS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/poll_set.h"

/* A copy of descriptor `fd` of a process, for the caller to close; -1 on failure. `process`: a
 * pidfd. */
int process_fd_copy(int process, int fd);

/* Whether `is_so` returns true for a copy of descriptor `fd` of a process. `process`: a pidfd. */
bool process_fd_is(int process, int fd, bool (*is_so)(int fd));

/* Whether `is_so` returns true for a descriptor of an array or bitmap, or for the epoll set
 * itself. */
bool process_fd_any_is(const struct poll_set *set, uint32_t pid, bool (*is_so)(int fd));

/* Whether data that was sent to the socket is still unread. */
bool fd_is_untaken(int fd);

#endif
