/* Contents of epoll sets that were created before the recording. */
#ifndef ARGUS_RECORDER_LINUX_EPOLL_SETS_H
#define ARGUS_RECORDER_LINUX_EPOLL_SETS_H

/* Adds the descriptors in the epoll sets of all processes to the BPF map `map_fd` (bpf/ready.h),
 * except those that it has already. Skips processes that end meanwhile and sets that cannot be
 * read: their descriptors stay unnamed. */
void epoll_sets_fill(int map_fd);

#endif
