/* Where a Go program has its table of functions (elf_go.h). */
#ifndef ARGUS_EVENT_ELF_GO_MODULE_H
#define ARGUS_EVENT_ELF_GO_MODULE_H

#include "event/binary/elf_file.h"

/* Bytes of the file, borrowed. */
struct elf_view {
    const uint8_t *data;
    size_t bytes;
};

/* False: it ends before. */
bool elf_view_u32(struct elf_view view, uint64_t offset_bytes, uint32_t *ret);
bool elf_view_u64(struct elf_view view, uint64_t offset_bytes, uint64_t *ret);

/* What differs between versions of Go: offsets in the table's header and in the description of a
 * function. */
struct elf_go_layout {
    uint32_t magic;
    bool has_addresses; /* rows and descriptions have addresses of 8 bytes; else offsets of 4 */
    /* offsets of names, units, files, values and functions are in the header from here on; 0: the
     * rows follow the header, then the offset of the files; all offsets count from the table */
    uint32_t header_offsets;
    /* in a description: the name, numbers of the lists of files and lines, the number of lists, and
     * the unit (0: files are numbered in the whole program), its length without lists */
    uint32_t name, files, lines, lists, unit, bytes;
    uint32_t data_inlined;                       /* FUNCDATA_InlTree */
    uint32_t tree_bytes, tree_name, tree_caller; /* of an entry for an inlined function */
    uint32_t
        trees_word; /* of the module's variable: what offsets of trees count from; 0: addresses */
};

struct elf_go_module {
    struct elf_view table; /* from the header of the table on */
    struct elf_view trees; /* what offsets of inlined functions refer to; empty: not found */
    uint64_t text;         /* what offsets of functions refer to */
    const struct elf_go_layout *layout; /* static */
    bool has_trees;                     /* inlined functions can be looked up */
};

/* The bytes at an address of the file, up to the end of their section. */
struct elf_view elf_go_view_at(const struct elf_file *file, uint64_t address);

/* False: `file` has no such table. */
bool elf_go_module_find(const struct elf_file *file, struct elf_go_module *ret);

#endif
