/* Walks a file from chunk to chunk, and finds the next chunk after damage. Used by the reader and
 * by argus_writer_append(). */
#ifndef ARGUS_TRACE_WALK_H
#define ARGUS_TRACE_WALK_H

#include <stdint.h>

#include "argus/trace.h"
#include "trace/layout.h"

/* Reads and checks the file header. `name` is what messages call the file. */
struct argus_error *walk_read_header(int fd, const char *name, struct argus_trace_header *ret);

struct walk {
    int fd;
    const char *name;  /* borrowed */
    uint64_t at;       /* offset of the next chunk */
    uint64_t limit;    /* end of the chunk area in the file */
    uint64_t area_end; /* of a ring; UINT64_MAX for a stream */
};

enum walk_found { WALK_CHUNK, WALK_DAMAGE, WALK_END };

struct walk_step {
    enum walk_found found;
    uint64_t offset_bytes, length_bytes; /* of the chunk with its padding, or of the damage */
    struct layout_chunk header;          /* of a chunk */
    const char *reason;                  /* of damage; a static string */
};

void walk_begin(struct walk *walk, int fd, const char *name,
                const struct argus_trace_header *header, uint64_t file_bytes);

/* Finds the next part of the file: a chunk or damage. A chunk has the right magic and CRC and lies
 * inside the file; its fields are not checked further. Fails if the file cannot be read. */
struct argus_error *walk_next(struct walk *walk, struct walk_step *ret);

#endif
