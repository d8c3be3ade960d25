/* A Mach-O file being read: what macho_image.c has found in its load commands, for reading its
 * tables (macho_tables.c). */
#ifndef ARGUS_HOOKS_MACHO_READER_H
#define ARGUS_HOOKS_MACHO_READER_H

#include "event/binary/macho_layout.h"
#include "image.h"

struct macho_reader {
    struct image *image;
    const uint8_t *data; /* of the part that is read */
    size_t bytes;
    uint64_t part; /* where that is in the file */
    uint64_t text; /* address of the header */
    struct macho_symtab symtab;
    struct macho_data starts;
    struct {
        uint64_t address, bytes;
    } unwind_info, eh_frame;
};

struct argus_error *macho_damaged(const char *what, uint64_t offset);
bool macho_is_within(const struct macho_reader *reader, uint64_t offset, uint64_t bytes);

/* Symbols, beginnings of functions, landing pads and pointers. */
struct argus_error *macho_read_tables(struct macho_reader *reader);

#endif
