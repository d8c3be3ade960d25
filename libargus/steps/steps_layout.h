/* The bytes of a step file as C structs; docs/man/argus-steps.5.md defines the format.
 * Little-endian, like the trace. */
#ifndef ARGUS_STEPS_LAYOUT_H
#define ARGUS_STEPS_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#include "argus/steps.h"

#define STEPS_FILE_MAGIC      ARGUS_STEPS_MAGIC
#define STEPS_CHUNK_MAGIC     "STPC"
#define STEPS_FLAG_COMPRESSED 1u
#define STEPS_CHUNK_STEPS     4096u      /* steps in one chunk, at most */
#define STEPS_CHUNK_BYTES     (4u << 20) /* of one chunk, decompressed */
#define STEPS_CODE_BYTES      65536u     /* of one piece of code */
/* maximum size of all payloads, decompressed: this or, if that is more, … */
#define STEPS_LEAST_TOTAL    (64u << 20)
#define STEPS_TIMES_FILE     64u /* … this many times the file size */
#define STEPS_BUILD_ID_BYTES 20u

enum steps_chunk_kind {
    STEPS_CHUNK_ABOUT = 1, /* the first one */
    STEPS_CHUNK_IMAGES = 2,
    STEPS_CHUNK_CODE = 3,
    STEPS_CHUNK_PCS = 4,
    STEPS_CHUNK_REGISTERS = 5, /* of the steps in the previous chunk of pcs */
    STEPS_CHUNK_FRAMES = 6,
    STEPS_CHUNK_EVENTS = 7,
    STEPS_CHUNK_END = 8,
};

struct steps_file_header {
    char magic[8];
    uint16_t version_major, version_minor;
    uint32_t header_bytes;
    uint32_t arch;
    uint32_t reserved[10];
    uint32_t crc; /* of all bytes before it */
};

struct steps_chunk_header {
    char magic[4];
    uint16_t kind, flags;
    uint32_t stored_bytes, unpacked_bytes;
    uint32_t count;
    uint32_t sequence; /* 0, 1, 2 … */
    uint32_t payload_crc;
    uint32_t header_crc; /* of all bytes before it */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs are the file's bytes");
static_assert(sizeof(struct steps_file_header) == 64, "file header");
static_assert(sizeof(struct steps_chunk_header) == 32, "chunk header");

#endif
