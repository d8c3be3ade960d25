/* Lock files: on_lock_name.c. */
#ifndef ARGUS_GRAPH_ON_LOCK_NAME_H
#define ARGUS_GRAPH_ON_LOCK_NAME_H

#include <stdint.h>

struct argus_file_lock;
struct builder;

/* The state of this feature: which identities belong to one name, and paths. */
struct lock_names *lock_names_create(void);
void lock_names_destroy(struct lock_names *names);

/* `lock` is of a lock file, and about to be added to the graph; `place` identifies folder and last
 * component of its name, 0: not known. Unifies the identity. */
void lock_name_identify(struct builder *builder, struct argus_file_lock *lock, uint64_t place);

#endif
