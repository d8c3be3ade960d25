/* Locks on files: on_file_lock.c. */
#ifndef ARGUS_GRAPH_ON_FILE_LOCK_H
#define ARGUS_GRAPH_ON_FILE_LOCK_H

#include <stdint.h>

struct builder;

/* The state of this feature: the descriptor by which each lock was acquired. */
struct lock_descriptors *lock_descriptors_create(void);
void lock_descriptors_destroy(struct lock_descriptors *descriptors);

/* `thread` has closed a descriptor, which releases the locks that its process acquired by it. */
void file_lock_closed(struct builder *builder, uint32_t thread, uint64_t descriptor);

#endif
