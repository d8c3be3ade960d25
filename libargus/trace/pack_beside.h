/* Packs chunks with a thread, while its owner prepares the next ones. The chunks come back in the
 * order in which they were given. A few are on the way at any time, so it takes little memory. */
#ifndef ARGUS_TRACE_PACK_BESIDE_H
#define ARGUS_TRACE_PACK_BESIDE_H

#include <stdbool.h>

#include "trace/chunk_image.h"

struct pack_beside;

/* A chunk to be packed. The buffers stay with the job, for the next chunk. */
struct pack_job {
    struct chunk_head head;
    enum argus_codec codec; /* as in struct packer */
    struct bytes payload;
    struct bytes image; /* without a sequence number */
    bool packed;        /* false: there was no memory */
};

/* `fast` as in struct packer. NULL if no thread or no memory could be had. */
struct pack_beside *pack_beside_start(bool fast);
/* Ends the thread. Chunks that were not taken are dropped. NULL is fine. */
void pack_beside_stop(struct pack_beside *beside);

/* The next job to fill; NULL: all are on the way, and the oldest must be taken first. */
struct pack_job *pack_beside_free(struct pack_beside *beside);
/* Gives the job of the last pack_beside_free() to the thread. */
void pack_beside_give(struct pack_beside *beside);
/* Waits for the oldest job on the way; NULL: there is none. */
struct pack_job *pack_beside_oldest(struct pack_beside *beside);
/* Makes the job of the last pack_beside_oldest() free. */
void pack_beside_take(struct pack_beside *beside);

#endif
