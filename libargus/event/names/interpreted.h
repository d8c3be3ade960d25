/* The functions of an interpreted program: inserts their frames into unwound stacks, and names
 * them. */
#ifndef ARGUS_EVENT_INTERPRETED_H
#define ARGUS_EVENT_INTERPRETED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* The interpreter's frames at the time of a stack copy (ARGUS_STACK_INTERPRETED), used while the
 * copy is unwound. */
struct interpreted {
    const uint64_t *entries; /* borrowed from the trace */
    size_t count, at;
    bool is_cut; /* there were more frames than were copied */
};

struct interpreted interpreted_of(const struct argus_trace *trace, uint64_t snapshot_id);

/* A frame of a C function: its part of the stack is [`low`, `high`), the function's code begins at
 * `function`; 0: not known. */
struct interpreted_place {
    uint64_t low, high, function;
};

/* Whether the next frames belong to a C function that only its code tells: its start; 0: no. */
uint64_t interpreted_function(const struct interpreted *interpreted);

/* Returns the frames, innermost first, of the interpreting C function at `place`; 0: it has none.
 * `*ret_cut`: it had more frames, which are unknown. */
size_t interpreted_take(struct interpreted *interpreted, const struct interpreted_place *place,
                        uint64_t *ret, size_t room, bool *ret_cut);

/* Fills those of `names` (all of one process, sorted by place) that the trace's code objects cover.
 * An address that belonged to different functions at different times gets no name. */
struct argus_error *interpreted_name(const struct argus_trace *trace,
                                     struct argus_name_entry *names, size_t count,
                                     struct strtab *texts);

/* The line of the instruction at `offset` bytes of the code object; 0: it has none, or the table
 * does not tell. */
uint32_t interpreted_line(const struct argus_code_entry *code, uint64_t offset);

#endif
