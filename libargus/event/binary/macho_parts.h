/* The internals of an open Mach-O file, shared by macho.c, which reads it, and macho_find.c, which
 * searches it. */
#ifndef ARGUS_EVENT_MACHO_PARTS_H
#define ARGUS_EVENT_MACHO_PARTS_H

#include "base/vec.h"
#include "event/binary/macho.h"

/* A segment. */
struct macho_range {
    uint64_t address, bytes, offset, file_bytes;
};

struct macho {
    const uint8_t *file; /* mapped */
    size_t file_bytes;
    const uint8_t *slice; /* inside file */
    uint64_t slice_bytes;
    enum macho_cpu cpu;
    bool has_uuid;
    uint8_t uuid[MACHO_UUID_BYTES];
    VEC(struct macho_range) segments;
    VEC(bool) sections_run; /* by number - 1: whether the section contains instructions */
    VEC(struct macho_symbol) symbols;
};

static inline bool macho_lies_in(uint64_t offset, uint64_t bytes, uint64_t room)
{
    return bytes <= room && offset <= room - bytes;
}

#endif
