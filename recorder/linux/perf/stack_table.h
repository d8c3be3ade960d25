/* Stacks in the recorder's own memory, each stored once. The ID is a hash of the frames, as in
 * bpf/stack.h. If there are many, those not seen for long are dropped.
 */
#ifndef ARGUS_RECORDER_LINUX_STACK_TABLE_H
#define ARGUS_RECORDER_LINUX_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct stack_table;

struct stack_table *stack_table_create(void); /* NULL without memory */
void stack_table_destroy(struct stack_table *table);

/* The id of the stack with these frames (innermost first; at most ARGUS_STACK_MAX_FRAMES); 0 if
 * `count` is 0 or without memory. */
uint64_t stack_table_put(struct stack_table *table, const uint64_t *frames, size_t count);
/* The number of frames; 0 if the stack is unknown or was dropped. `frames` has room for
 * ARGUS_STACK_MAX_FRAMES. */
size_t stack_table_get(const struct stack_table *table, uint64_t id, uint64_t *ret_frames);

#endif
