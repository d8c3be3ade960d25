/* The epoll sets that are older than the recording. */
#ifndef ARGUS_RECORDER_LINUX_EPOLL_SETS_H
#define ARGUS_RECORDER_LINUX_EPOLL_SETS_H

/* Puts what is in the epoll sets of all processes into the BPF map `map_fd` (bpf/ready.h), as far as it has no entry yet.
 * Processes that end meanwhile, and what cannot be read, are passed over: their descriptors stay unnamed. */
void epoll_sets_fill(int map_fd);

#endif
