/* Stacks in the recorder's own memory, each once, named by a hash of their frames as bpf/stack.h names them. When there
 * are many, those that were not seen for long are forgotten.
 */
#ifndef ARGUS_RECORDER_LINUX_STACK_TABLE_H
#define ARGUS_RECORDER_LINUX_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct stack_table;

struct stack_table *stack_table_create(void); /* NULL without memory */
void stack_table_destroy(struct stack_table *table);

/* The id of the stack with these frames (innermost first; at most ARGUS_STACK_MAX_FRAMES); 0 when there are none or no
 * memory. */
uint64_t stack_table_put(struct stack_table *table, const uint64_t *frames, size_t count);
/* The number of frames; 0 when the stack is not known or forgotten. `frames` has room for ARGUS_STACK_MAX_FRAMES. */
size_t stack_table_get(const struct stack_table *table, uint64_t id, uint64_t *ret_frames);

#endif
