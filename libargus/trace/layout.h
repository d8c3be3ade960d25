/* The bytes of a trace as C structs; docs/man/argus-trace.5.md defines the format. Little-endian
 * machines only: Argus runs on no other. */
#ifndef ARGUS_TRACE_LAYOUT_H
#define ARGUS_TRACE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"

#define LAYOUT_FILE_MAGIC          "ARGUSTRC"
#define LAYOUT_CHUNK_MAGIC         "CHNK"
#define LAYOUT_AREA_START          4096u /* size of the file header; the chunks begin here */
#define LAYOUT_ALIGN               8u
#define LAYOUT_MOST_CPUS           65536u
#define LAYOUT_LEAST_RING_BYTES    (64u << 10)
#define LAYOUT_BUILD_ID_BYTES      20u
#define LAYOUT_MOST_SNAPSHOT_BYTES (1u << 20) /* of a chunk, uncompressed */

struct layout_header {
    char magic[8];
    uint16_t version_major, version_minor;
    uint32_t header_bytes;
    uint32_t os, arch;
    uint32_t timebase_numer, timebase_denom;
    uint64_t anchor_ticks, anchor_wall_ns;
    uint32_t page_bytes, cpu_count;
    uint64_t ring_bytes;
    uint8_t boot_id[16];
    char host[128];
    uint8_t reserved[3884];
    uint32_t crc; /* of all bytes before it */
};

struct layout_chunk {
    char magic[4];
    uint16_t kind, codec;
    uint32_t stored_bytes, unpacked_bytes;
    uint64_t sequence;
    uint64_t first_ticks, last_ticks;
    uint32_t count, cpu;
    uint64_t lost;
    uint32_t payload_crc;
    uint32_t header_crc; /* of all bytes before it */
};

/* Flags of an entry of names. */
enum {
    LAYOUT_NAME_SAME_OWNER = 1,
    LAYOUT_NAME_OF_PROCESS = 2,
    LAYOUT_NAME_SAME_FUNCTION = 4,
    LAYOUT_NAME_SAME_SOURCE = 8,
    LAYOUT_NAME_HAS_SINCE = 16,
    LAYOUT_NAME_HAS_CALLED = 32,
    LAYOUT_NAME_FLAGS = 64, /* all flags are less than this */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs are the file's bytes");
static_assert(sizeof(struct layout_header) == LAYOUT_AREA_START, "file header");
static_assert(offsetof(struct layout_header, anchor_ticks) == 32, "file header");
static_assert(offsetof(struct layout_header, ring_bytes) == 56, "file header");
static_assert(offsetof(struct layout_header, reserved) == 208, "file header");
static_assert(offsetof(struct layout_header, crc) == 4092, "file header");
static_assert(sizeof(struct layout_chunk) == 64, "chunk header");
static_assert(offsetof(struct layout_chunk, lost) == 48, "chunk header");
static_assert(offsetof(struct layout_chunk, header_crc) == 60, "chunk header");

/* Bytes that a chunk with a payload of `stored_bytes` takes in the file, including padding. */
static inline uint64_t layout_chunk_extent(uint32_t stored_bytes)
{
    uint64_t bytes = sizeof(struct layout_chunk) + (uint64_t)stored_bytes;
    return (bytes + LAYOUT_ALIGN - 1) / LAYOUT_ALIGN * LAYOUT_ALIGN;
}

/* Whether the chunk has snapshots that are not unwound, encrypted or not. */
static inline bool is_of_snapshots(enum argus_chunk_kind kind)
{
    return kind == ARGUS_CHUNK_SNAPSHOTS || kind == ARGUS_CHUNK_ENCRYPTED;
}

#endif
