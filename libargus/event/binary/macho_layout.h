/* The structures of Mach-O files, as far as Argus reads and writes them. The names are Argus's own
 * and the numbers those of Apple's <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h>, which
 * other systems lack. All little-endian, except for the header of universal files. */
#ifndef ARGUS_EVENT_MACHO_LAYOUT_H
#define ARGUS_EVENT_MACHO_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define MACHO_MAGIC     0xfeedfacfu /* 64 bits */
#define MACHO_UNIVERSAL 0xcafebabeu /* big-endian */
#define MACHO_DYLIB     6u
#define MACHO_BUNDLE    8u
#define MACHO_EXECUTE   2u
#define MACHO_FLAGS     0x85u /* NOUNDEFS, DYLDLINK, TWOLEVEL */

/* cputype of <mach/machine.h>. */
enum macho_cpu { MACHO_CPU_ANY = 0, MACHO_CPU_X86_64 = 0x01000007, MACHO_CPU_ARM64 = 0x0100000c };

/* cpusubtype, without the bits of <mach/machine.h>'s CPU_SUBTYPE_MASK: arm64 whose pointers are
 * signed. */
#define MACHO_SUBTYPE_ARM64E   2u
#define MACHO_SUBTYPE(subtype) ((subtype)&0x00ffffffu)
#define MACHO_IS_ARM64E(cpu, subtype)                                                              \
    ((cpu) == MACHO_CPU_ARM64 && MACHO_SUBTYPE(subtype) == MACHO_SUBTYPE_ARM64E)

/* Kinds of load commands. */
enum macho_command_kind {
    MACHO_SYMTAB = 0x2,
    MACHO_DYSYMTAB = 0xb,
    MACHO_LOAD_DYLIB = 0xc,
    MACHO_ID_DYLIB = 0xd,
    MACHO_SEGMENT = 0x19,
    MACHO_UUID = 0x1b,
    MACHO_CODE_SIGNATURE = 0x1d,
    MACHO_RPATH = (int)0x8000001c,
    MACHO_REEXPORT_DYLIB = (int)0x8000001f,
    MACHO_DYLD_INFO = (int)0x80000022,
    MACHO_FUNCTION_STARTS = 0x26,
    MACHO_BUILD_VERSION = 0x32,
};

struct macho_header {
    uint32_t magic, cpu, subtype, type, command_count, command_bytes, flags, reserved;
};

struct macho_command { /* the beginning of each load command */
    uint32_t kind, bytes;
};

struct macho_segment {
    uint32_t command, bytes;
    char name[16];
    uint64_t address, memory_bytes, offset, file_bytes;
    uint32_t highest_protection, protection, section_count, flags;
};

struct macho_section {
    char name[16], segment[16];
    uint64_t address, bytes;
    uint32_t offset, alignment, relocations, relocation_count, flags, reserved[3];
};

struct macho_symtab {
    uint32_t command, bytes, symbols, symbol_count, strings, string_bytes;
};

struct macho_nlist {
    uint32_t name; /* offset in the strings */
    uint8_t type, section;
    uint16_t description;
    uint64_t value;
};

struct macho_dylib { /* the name follows */
    uint32_t command, bytes, name, timestamp, version, compatible;
};

struct macho_part { /* of a universal file, big-endian */
    uint32_t cpu, subtype, offset, bytes, alignment;
};

struct macho_data { /* of the link-edit segment */
    uint32_t command, bytes, offset, data_bytes;
};

#define MACHO_LINKEDIT "__LINKEDIT"

#define MACHO_READ         1u
#define MACHO_WRITE        2u
#define MACHO_EXEC         4u
#define MACHO_TYPE_MASK    0x0eu
#define MACHO_TYPE_SECTION 0x0eu
#define MACHO_TYPE_GLOBAL  0x01u
#define MACHO_DEBUG_MASK   0xe0u

/* Flags of a section: all of it, or some of it, is code. */
#define MACHO_PURE_INSTRUCTIONS 0x80000000u
#define MACHO_SOME_INSTRUCTIONS 0x00000400u

#define MACHO_FAT_SLICES       32u /* further slices are ignored */
#define MACHO_FAT_HEADER_BYTES 8u
#define MACHO_FAT_SLICE_BYTES  20u /* struct macho_part */

static_assert(sizeof(struct macho_header) == 32, "mach_header_64");
static_assert(sizeof(struct macho_segment) == 72, "segment_command_64");
static_assert(sizeof(struct macho_section) == 80, "section_64");
static_assert(sizeof(struct macho_symtab) == 24, "symtab_command");
static_assert(sizeof(struct macho_nlist) == 16, "nlist_64");
static_assert(sizeof(struct macho_part) == MACHO_FAT_SLICE_BYTES, "fat_arch");

#endif
