/* Where the next chunk goes: behind the last one in a stream, over the oldest ones in a ring.
 *
 * A ring's area can be walked at any time: from its start, each chunk leads to the next, up to the
 * end. A new chunk rarely ends where an old one did, so the rest of the old chunk becomes a padding
 * chunk. If the rest is smaller than a header (64 bytes), the next old chunk is given up as well.
 * The padding header follows directly behind the new chunk and is written in the same pwrite(), so
 * that a killed recorder leaves at most one place where the walk must search.
 *
 * `extents` lists the positions of complete chunks, oldest first: those of the previous lap, ahead
 * of `head`, followed by those of this lap.
 */
#ifndef ARGUS_TRACE_RING_PLACE_H
#define ARGUS_TRACE_RING_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct extent {
    uint64_t start, end;
    uint64_t first_ticks; /* of its records; UINT64_MAX if it has none */
};

struct ring_place {
    uint64_t start, end; /* the area; end is UINT64_MAX for a stream */
    uint64_t head;       /* position of the next chunk, if it fits before `end` */
    VEC(struct extent) extents;
    size_t oldest; /* index of the oldest extent that still exists; unused in a stream */
};

/* The plan for one chunk. ring_commit() applies it after the bytes are written. */
struct ring_plan {
    uint64_t offset;      /* of the chunk */
    uint64_t pad_bytes;   /* of the padding chunk directly behind it; 0: none */
    uint64_t end;         /* of the chunk */
    size_t given_up;      /* number of the oldest extents that it overwrites */
    uint64_t first_ticks; /* as in struct extent; set by the caller */
};

/* `ring_bytes` 0: a stream. */
void ring_init(struct ring_place *place, uint64_t ring_bytes);
void ring_deinit(struct ring_place *place);

/* Whether a chunk of `bytes` fits between the head and the end of the area. */
bool ring_fits(const struct ring_place *place, uint64_t bytes);

/* Bytes from the head to the end of the area. The caller fills them with a padding chunk (if 64 or
 * more) before ring_wrap() moves the head to the start. */
uint64_t ring_rest(const struct ring_place *place);
bool ring_wrap(struct ring_place *place);

/* Plans the position of a chunk of `bytes` (a multiple of 8, which must fit). Changes nothing. */
struct ring_plan ring_plan(const struct ring_place *place, uint64_t bytes);

/* False without memory. Call ring_reserve() before writing. */
bool ring_reserve(struct ring_place *place);
void ring_commit(struct ring_place *place, const struct ring_plan *plan);

/* The smallest first_ticks of all extents; UINT64_MAX if there are no records. */
uint64_t ring_oldest_ticks(const struct ring_place *place);

#endif
