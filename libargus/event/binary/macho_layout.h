/* What is where in a Mach-O file: <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h>, in our words. */
#ifndef ARGUS_EVENT_MACHO_LAYOUT_H
#define ARGUS_EVENT_MACHO_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define MACHO_MAGIC_64          0xfeedfacfu
#define MACHO_FAT_MAGIC         0xcafebabeu
#define MACHO_FAT_SLICES        32u
#define MACHO_FAT_HEADER_BYTES  8u
#define MACHO_FAT_SLICE_BYTES   20u /* cputype, cpusubtype, offset, size, align; big-endian */
#define MACHO_LC_SYMTAB         0x2u
#define MACHO_LC_SEGMENT_64     0x19u
#define MACHO_LC_UUID           0x1bu
#define MACHO_PURE_INSTRUCTIONS 0x80000000u
#define MACHO_SOME_INSTRUCTIONS 0x00000400u
#define MACHO_N_STAB            0xe0u
#define MACHO_N_TYPE            0x0eu
#define MACHO_N_SECT            0x0eu
#define MACHO_N_EXT             0x01u

struct macho_header {
    uint32_t magic, cpu, subtype, kind, command_count, commands_bytes, flags, reserved;
};

struct macho_command {
    uint32_t kind, bytes;
};

struct macho_segment {
    struct macho_command command;
    char name[16];
    uint64_t address, bytes, file_offset, file_bytes;
    uint32_t highest_protection, protection, section_count, flags;
};

struct macho_section {
    char name[16], segment[16];
    uint64_t address, bytes;
    uint32_t offset, alignment, relocations, relocation_count, flags, reserved[3];
};

struct macho_symtab {
    struct macho_command command;
    uint32_t offset, count, names, names_bytes;
};

struct macho_nlist {
    uint32_t name; /* offset in the names */
    uint8_t type, section;
    uint16_t description;
    uint64_t value;
};

static_assert(sizeof(struct macho_header) == 32, "mach_header_64");
static_assert(sizeof(struct macho_segment) == 72, "segment_command_64");
static_assert(sizeof(struct macho_section) == 80, "section_64");
static_assert(sizeof(struct macho_symtab) == 24, "symtab_command");
static_assert(sizeof(struct macho_nlist) == 16, "nlist_64");

#endif
