/* The functions of an interpreted program: their frames in unwound stacks, and their names. */
#ifndef ARGUS_EVENT_INTERPRETED_H
#define ARGUS_EVENT_INTERPRETED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* The frames that an interpreter had where a stack was copied (ARGUS_STACK_INTERPRETED), while that is unwound. */
struct interpreted {
    const uint64_t *entries; /* the trace's */
    size_t count, at;
    bool is_cut; /* there were more */
};

struct interpreted interpreted_of(const struct argus_trace *trace, uint64_t snapshot_id);

/* The instructions of the frames that belong to the C function whose part of the stack is from `low` to below `high`, innermost
 * first; 0: none do. `*ret_cut`: more of them there were, but they are not known. */
size_t interpreted_take(struct interpreted *interpreted, uint64_t low, uint64_t high, uint64_t *ret,
                        size_t room, bool *ret_cut);

/* Fills those of `names` (all of one process, ascending by place) that the trace's code objects cover: an address that had several
 * different functions at different times gets none. */
struct argus_error *interpreted_name(const struct argus_trace *trace,
                                     struct argus_name_entry *names, size_t count,
                                     struct strtab *texts);

/* The line of the instruction at `offset` bytes of the code object; 0: it has none, or the table does not say. */
uint32_t interpreted_line(const struct argus_code_entry *code, uint64_t offset);

#endif
