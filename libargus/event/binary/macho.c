#include "event/binary/macho_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/macho_layout.h"

static struct argus_error *bad(uint64_t offset, const char *what)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "at offset %" PRIu64 ": %s", offset, what);
}

/* --- the load commands --- */

static struct argus_error *take_segment(struct macho *macho, const uint8_t *at, uint64_t offset,
                                        uint32_t bytes)
{
    struct macho_segment head;
    if (bytes < sizeof(head))
        return bad(offset, "a segment command that is too short");
    memcpy(&head, at, sizeof(head));
    if (head.section_count > (bytes - sizeof(head)) / sizeof(struct macho_section))
        return bad(offset, "a segment with more sections than its command has room for");
    struct macho_range segment = {head.address, head.memory_bytes, head.offset, head.file_bytes,
                                  !strncmp(head.name, MACHO_LINKEDIT, sizeof(head.name))};
    if (!vec_push(&macho->segments, segment))
        return argus_error_memory();
    for (uint32_t i = 0; i < head.section_count; i++) {
        struct macho_section section;
        memcpy(&section, at + sizeof(head) + i * sizeof(section), sizeof(section));
        bool runs = section.flags & (MACHO_PURE_INSTRUCTIONS | MACHO_SOME_INSTRUCTIONS);
        if (!vec_push(&macho->sections_run, runs))
            return argus_error_memory();
    }
    return NULL;
}

/* Kinds that Argus does not know are skipped, and so are commands that are too short. */
static struct argus_error *take_command(struct macho *macho, const struct macho_command *command,
                                        uint64_t offset, struct macho_tables *ret)
{
    const uint8_t *at = macho->slice + offset;
    if (command->kind == MACHO_SEGMENT)
        return take_segment(macho, at, offset, command->bytes);
    if (command->kind == MACHO_UUID && command->bytes >= sizeof(*command) + MACHO_UUID_BYTES) {
        memcpy(macho->uuid, at + sizeof(*command), MACHO_UUID_BYTES);
        macho->has_uuid = true;
    } else if (command->kind == MACHO_SYMTAB && command->bytes >= sizeof(ret->symtab)) {
        memcpy(&ret->symtab, at, sizeof(ret->symtab));
        ret->symtab_offset = offset;
    } else if (command->kind == MACHO_FUNCTION_STARTS && command->bytes >= sizeof(ret->starts)) {
        memcpy(&ret->starts, at, sizeof(ret->starts));
    }
    return NULL;
}

struct argus_error *macho_take_commands(struct macho *macho, const struct macho_header *header,
                                        struct macho_tables *ret)
{
    uint64_t offset = sizeof(*header), end = sizeof(*header) + (uint64_t)header->command_bytes;
    struct argus_error *error = NULL;
    *ret = (struct macho_tables){0};
    if (end > macho->slice_bytes)
        return bad(0, "load commands that end beyond the end of the file");
    for (uint32_t i = 0; i < header->command_count && !error; i++) {
        struct macho_command command;
        if (!macho_lies_in(offset, sizeof(command), end))
            return bad(offset, "fewer load commands than the header says");
        memcpy(&command, macho->slice + offset, sizeof(command));
        if (command.bytes < sizeof(command) || command.bytes > end - offset)
            return bad(offset, "a load command with an impossible length");
        error = take_command(macho, &command, offset, ret);
        offset += command.bytes;
    }
    return error;
}

/* --- the slice --- */

static void forget_slice(struct macho *macho)
{
    vec_deinit(&macho->segments);
    vec_deinit(&macho->sections_run);
    vec_deinit(&macho->symbols);
    vec_deinit(&macho->starts);
    macho->has_uuid = false;
}

/* Reads the slice if it is the requested one. */
static struct argus_error *try_slice(struct macho *macho, uint64_t offset, uint64_t bytes,
                                     enum macho_cpu cpu, const uint8_t *uuid, bool *ret_fits)
{
    struct macho_header header;
    struct macho_tables tables;
    *ret_fits = false;
    if (!macho_lies_in(offset, bytes, macho->file.bytes) || bytes < sizeof(header))
        return bad(offset, "a slice that ends beyond the end of the file");
    memcpy(&header, macho->file.data + offset, sizeof(header));
    if (header.magic != MACHO_MAGIC)
        return bad(offset, "no 64-bit Mach-O header");
    if (cpu != MACHO_CPU_ANY && header.cpu != (uint32_t)cpu)
        return NULL;
    macho->slice = macho->file.data + offset;
    macho->slice_bytes = bytes;
    macho->linkedit = (struct macho_linkedit){macho->slice, 0, bytes};
    macho->cpu = (enum macho_cpu)header.cpu;
    struct argus_error *error = macho_take_commands(macho, &header, &tables);
    if (!error)
        error = macho_take_tables(macho, &tables);
    *ret_fits =
        !error && (!uuid || (macho->has_uuid && !memcmp(uuid, macho->uuid, MACHO_UUID_BYTES)));
    if (!*ret_fits)
        forget_slice(macho);
    return error;
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The header of a fat file is big-endian. A Java class begins with the same magic: its version is
 * larger than any number of slices. */
static struct argus_error *find_slice(struct macho *macho, enum macho_cpu cpu, const uint8_t *uuid,
                                      bool *ret_fits)
{
    *ret_fits = false;
    if (macho->file.bytes < MACHO_FAT_HEADER_BYTES)
        return bad(0, "too short for a Mach-O file");
    if (big_endian(macho->file.data) != MACHO_UNIVERSAL)
        return try_slice(macho, 0, macho->file.bytes, cpu, uuid, ret_fits);
    uint32_t count = big_endian(macho->file.data + 4);
    if (count > MACHO_FAT_SLICES ||
        !macho_lies_in(MACHO_FAT_HEADER_BYTES, count * MACHO_FAT_SLICE_BYTES, macho->file.bytes))
        return bad(4, "more slices than the file has room for");
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < count && !error && !*ret_fits; i++) {
        const uint8_t *at = macho->file.data + MACHO_FAT_HEADER_BYTES + i * MACHO_FAT_SLICE_BYTES;
        if (cpu == MACHO_CPU_ANY || big_endian(at) == (uint32_t)cpu)
            error = try_slice(macho, big_endian(at + 8), big_endian(at + 12), cpu, uuid, ret_fits);
    }
    return error;
}

struct argus_error *macho_open(const char *path, enum macho_cpu cpu, const uint8_t *uuid,
                               struct macho **ret)
{
    struct macho *macho = calloc(1, sizeof(*macho));
    bool fits = false;
    *ret = NULL;
    if (!macho)
        return argus_error_memory();
    struct argus_error *error = mapped_file_open(path, &macho->file);
    if (!error)
        error = find_slice(macho, cpu, uuid, &fits);
    if (fits)
        *ret = macho;
    else
        macho_close(macho);
    return error ? argus_error_context(error, "%s", path) : NULL;
}

void macho_close(struct macho *macho)
{
    if (!macho)
        return;
    forget_slice(macho);
    mapped_file_close(&macho->file);
    free(macho);
}
