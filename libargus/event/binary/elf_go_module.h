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

struct elf_go_module {
    struct elf_view table; /* from the header of the table on */
    struct elf_view trees; /* what offsets of inlined functions refer to; empty: not found */
    uint64_t text;         /* what offsets of functions refer to */
    bool is_old;           /* Go 1.18 or 1.19 */
};

/* False: `file` has no such table. */
bool elf_go_module_find(const struct elf_file *file, struct elf_go_module *ret);

#endif
