/* The internals of an open Mach-O file, shared by macho.c and dyld_cache_image.c, which open it,
 * macho_symbols.c, which reads its symbols, and macho_find.c, which searches it. */
#ifndef ARGUS_EVENT_MACHO_PARTS_H
#define ARGUS_EVENT_MACHO_PARTS_H

#include "base/vec.h"
#include "event/binary/macho.h"
#include "event/binary/mapped_file.h"

/* A segment. */
struct macho_range {
    uint64_t address, bytes, offset, file_bytes;
    bool is_linkedit;
};

/* Where the symbols are: the bytes [first, first + length) of the file to which the load commands
 * refer. */
struct macho_linkedit {
    const uint8_t *data;
    uint64_t first, length;
};

/* What the load commands say about the symbols; all zero: no such command. */
struct macho_tables {
    struct macho_symtab symtab;
    uint64_t symtab_offset; /* of the command, for errors */
    struct macho_data starts;
};

struct macho {
    struct mapped_file file; /* all zero: the bytes belong to a shared cache */
    const uint8_t *slice;    /* begins with the header */
    uint64_t slice_bytes;
    struct macho_linkedit linkedit;
    enum macho_cpu cpu;
    bool has_uuid;
    uint8_t uuid[MACHO_UUID_BYTES];
    VEC(struct macho_range) segments;
    VEC(bool) sections_run; /* by number - 1: whether the section contains instructions */
    VEC(struct macho_symbol) symbols;
    VEC(uint64_t) starts; /* addresses of functions, with or without a name; sorted */
};

/* Reads the segments and the UUID from the load commands, and returns where the symbols are. */
struct argus_error *macho_take_commands(struct macho *macho, const struct macho_header *header,
                                        struct macho_tables *ret);
/* Reads what `tables` says. `macho->linkedit` must be set. */
struct argus_error *macho_take_tables(struct macho *macho, const struct macho_tables *tables);
/* Adds the symbols of a table, from any memory that lives as long as `macho`. */
struct argus_error *macho_take_symbols(struct macho *macho, const uint8_t *entries, size_t count,
                                       const char *strings, uint64_t string_bytes);
/* Must be called when all symbols were added. */
void macho_sort_symbols(struct macho *macho);

static inline bool macho_lies_in(uint64_t offset, uint64_t bytes, uint64_t room)
{
    return bytes <= room && offset <= room - bytes;
}

#endif
