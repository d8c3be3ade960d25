/* Mach-O files of x86-64 and arm64, thin or universal.
 *
 * Names are C's: without the underscore that the format puts before each. Functions also begin
 * where LC_FUNCTION_STARTS says, which stripped libraries have. Pointers into code are recognized
 * only by their value: every aligned data word that would be an address of code counts, with or
 * without the extra bits of chained fixups.
 */
#include <string.h>

#include "macho_reader.h"

struct argus_error *macho_damaged(const char *what, uint64_t offset)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s at offset %llu does not fit in the file",
                              what, (unsigned long long)offset);
}

bool macho_is_within(const struct macho_reader *reader, uint64_t offset, uint64_t bytes)
{
    return offset <= reader->bytes && bytes <= reader->bytes - offset;
}

/* --- load commands --- */

static void read_section(struct macho_reader *reader, const struct macho_section *section)
{
    if (strncmp(section->name, "__unwind_info", sizeof(section->name)) == 0) {
        reader->unwind_info.address = section->address;
        reader->unwind_info.bytes = section->bytes;
    }
    if (strncmp(section->name, "__eh_frame", sizeof(section->name)) == 0) {
        reader->eh_frame.address = section->address;
        reader->eh_frame.bytes = section->bytes;
    }
}

static struct argus_error *read_segment(struct macho_reader *reader, const uint8_t *command,
                                        uint32_t bytes)
{
    struct macho_segment segment;
    if (bytes < sizeof(segment))
        return macho_damaged("a segment", (uint64_t)(command - reader->data));
    memcpy(&segment, command, sizeof(segment));
    if (!macho_is_within(reader, segment.offset, segment.file_bytes) ||
        segment.section_count > (bytes - sizeof(segment)) / sizeof(struct macho_section))
        return macho_damaged("a segment", (uint64_t)(command - reader->data));
    if (strncmp(segment.name, "__TEXT", sizeof(segment.name)) == 0)
        reader->text = segment.address;
    for (uint32_t i = 0; i < segment.section_count; i++) {
        struct macho_section section;
        memcpy(&section, command + sizeof(segment) + i * sizeof(section), sizeof(section));
        read_section(reader, &section);
    }
    if (strncmp(segment.name, "__LINKEDIT", sizeof(segment.name)) == 0)
        return NULL;
    return image_add_segment(reader->image, segment.address, reader->part + segment.offset,
                             segment.file_bytes, segment.protection & MACHO_EXEC)
               ? NULL
               : argus_error_memory();
}

static struct argus_error *read_name(struct macho_reader *reader, const uint8_t *command,
                                     uint32_t bytes)
{
    struct macho_dylib dylib;
    if (bytes < sizeof(dylib))
        return macho_damaged("the install name", (uint64_t)(command - reader->data));
    memcpy(&dylib, command, sizeof(dylib));
    if (dylib.name >= bytes || reader->image->name)
        return macho_damaged("the install name", (uint64_t)(command - reader->data));
    reader->image->name = strndup((const char *)command + dylib.name, bytes - dylib.name);
    return reader->image->name ? NULL : argus_error_memory();
}

static struct argus_error *read_command(struct macho_reader *reader, const uint8_t *command,
                                        uint32_t kind, uint32_t bytes)
{
    if (kind == MACHO_SEGMENT)
        return read_segment(reader, command, bytes);
    if (kind == MACHO_ID_DYLIB)
        return read_name(reader, command, bytes);
    if (kind == MACHO_UUID && bytes >= 24) {
        memcpy(reader->image->id, command + 8, 16);
        reader->image->id_bytes = 16;
    }
    if (kind == MACHO_SYMTAB && bytes >= sizeof(reader->symtab))
        memcpy(&reader->symtab, command, sizeof(reader->symtab));
    if (kind == MACHO_FUNCTION_STARTS && bytes >= sizeof(reader->starts))
        memcpy(&reader->starts, command, sizeof(reader->starts));
    return NULL;
}

static struct argus_error *read_commands(struct macho_reader *reader, uint32_t count)
{
    uint64_t at = sizeof(struct macho_header);
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < count && !error; i++) {
        uint32_t head[2];
        if (!macho_is_within(reader, at, sizeof(head)))
            return macho_damaged("a load command", at);
        memcpy(head, reader->data + at, sizeof(head));
        if (head[1] < sizeof(head) || !macho_is_within(reader, at, head[1]))
            return macho_damaged("a load command", at);
        error = read_command(reader, reader->data + at, head[0], head[1]);
        at += head[1];
    }
    return error;
}

/* --- the file --- */

static uint32_t big_endian(uint32_t number)
{
    return __builtin_bswap32(number);
}

/* On arm64e, return addresses and pointers are signed with their context, which moved instructions
 * and written jumps do not have. */
static struct argus_error *arm64e_error(void)
{
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "its code is arm64e, whose pointers the processor signs: only arm64 "
                              "without that can be hooked");
}

/* Chooses the part of a universal file. */
static struct argus_error *choose_part(struct macho_reader *reader, enum hook_arch arch)
{
    uint32_t head[2], wanted = arch == HOOK_ARCH_ARM64 ? MACHO_CPU_ARM64 : MACHO_CPU_X86_64;
    memcpy(head, reader->data, sizeof(head));
    if (big_endian(head[0]) != MACHO_UNIVERSAL)
        return NULL;
    if (!arch)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "it has code for several architectures: say --arch=x86_64 or "
                                  "--arch=arm64");
    bool is_arm64e = false;
    for (uint32_t i = 0; i < big_endian(head[1]); i++) {
        struct macho_part part;
        if (!macho_is_within(reader, 8 + 20ull * i, sizeof(part)))
            return macho_damaged("a part of the universal file", 8 + 20ull * i);
        memcpy(&part, reader->data + 8 + 20ull * i, sizeof(part));
        uint32_t offset = big_endian(part.offset), bytes = big_endian(part.bytes);
        if (big_endian(part.cpu) != wanted)
            continue;
        if (MACHO_IS_ARM64E(wanted, big_endian(part.subtype))) {
            is_arm64e = true;
            continue;
        }
        if (!macho_is_within(reader, offset, bytes) || bytes < sizeof(struct macho_header))
            return macho_damaged("a part of the universal file", offset);
        reader->data += offset;
        reader->part = offset;
        reader->bytes = bytes;
        return NULL;
    }
    return is_arm64e
               ? arm64e_error()
               : argus_error_create(ARGUS_ERROR_FORMAT, "it has no code for that architecture");
}

static struct argus_error *read_header(struct macho_reader *reader, enum hook_arch arch,
                                       uint32_t *ret_commands)
{
    struct macho_header header;
    memcpy(&header, reader->data, sizeof(header));
    if (header.magic != MACHO_MAGIC ||
        (header.type != MACHO_DYLIB && header.type != MACHO_EXECUTE && header.type != MACHO_BUNDLE))
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "it is not a 64-bit Mach-O library or program");
    if (header.cpu != MACHO_CPU_X86_64 && header.cpu != MACHO_CPU_ARM64)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "Mach-O cpu type 0x%x: only x86-64 and arm64", header.cpu);
    if (MACHO_IS_ARM64E(header.cpu, header.subtype))
        return arm64e_error();
    reader->image->arch = header.cpu == MACHO_CPU_ARM64 ? HOOK_ARCH_ARM64 : HOOK_ARCH_X86_64;
    *ret_commands = header.command_count;
    return arch && arch != reader->image->arch
               ? argus_error_create(ARGUS_ERROR_FORMAT, "it is of another architecture")
               : NULL;
}

struct argus_error *macho_image_read(struct image *image, enum hook_arch arch)
{
    struct macho_reader reader = {.image = image, .data = image->file, .bytes = image->file_bytes};
    uint32_t commands = 0;
    struct argus_error *error = choose_part(&reader, arch);
    if (!error)
        error = read_header(&reader, arch, &commands);
    if (!error)
        error = read_commands(&reader, commands);
    return error ? error : macho_read_tables(&reader);
}
