#include "event/binary/macho_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
    struct macho_range segment = {head.address, head.memory_bytes, head.offset, head.file_bytes};
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

static struct argus_error *take_symbol(struct macho *macho, const struct macho_nlist *entry,
                                       const char *names, uint32_t names_bytes)
{
    bool is_here =
        (entry->type & MACHO_TYPE_MASK) == MACHO_TYPE_SECTION && !(entry->type & MACHO_DEBUG_MASK);
    const char *name = names + entry->name;
    if (!is_here || entry->name >= names_bytes || !memchr(name, '\0', names_bytes - entry->name) ||
        entry->section == 0 || entry->section > macho->sections_run.length)
        return NULL; /* of another file, for a debugger, or damaged: other segments may be usable */
    struct macho_symbol symbol = {
        .address = entry->value,
        .name = name[0] == '_' ? name + 1 : name,
        .is_function = macho->sections_run.data[entry->section - 1],
        .is_global = entry->type & MACHO_TYPE_GLOBAL,
    };
    return vec_push(&macho->symbols, symbol) ? NULL : argus_error_memory();
}

/* Called after all segments were read, whose sections tell which symbols are functions. */
static struct argus_error *take_symbols(struct macho *macho, const struct macho_symtab *table,
                                        uint64_t offset)
{
    if (!macho_lies_in(table->symbols, (uint64_t)table->symbol_count * sizeof(struct macho_nlist),
                       macho->slice_bytes) ||
        !macho_lies_in(table->strings, table->string_bytes, macho->slice_bytes))
        return bad(offset, "a symbol table that ends beyond the end of the file");
    for (uint32_t i = 0; i < table->symbol_count; i++) {
        struct macho_nlist entry;
        memcpy(&entry, macho->slice + table->symbols + i * sizeof(entry), sizeof(entry));
        struct argus_error *error = take_symbol(
            macho, &entry, (const char *)macho->slice + table->strings, table->string_bytes);
        if (error)
            return error;
    }
    return NULL;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct macho_symbol *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->is_global != right->is_global)
        return left->is_global
                   /* if an address has two names, the global one is preferred: it sorts last */
                   ? 1
                   : -1;
    return strcmp(left->name, right->name);
}

static struct argus_error *take_commands(struct macho *macho, const struct macho_header *header)
{
    uint64_t offset = sizeof(*header), end = sizeof(*header) + (uint64_t)header->command_bytes;
    struct macho_symtab symtab = {0};
    uint64_t symtab_offset = 0;
    struct argus_error *error = NULL;
    if (end > macho->slice_bytes)
        return bad(0, "load commands that end beyond the end of the file");
    for (uint32_t i = 0; i < header->command_count && !error; i++) {
        struct macho_command command;
        if (!macho_lies_in(offset, sizeof(command), end))
            return bad(offset, "fewer load commands than the header says");
        memcpy(&command, macho->slice + offset, sizeof(command));
        if (command.bytes < sizeof(command) || command.bytes > end - offset)
            return bad(offset, "a load command with an impossible length");
        if (command.kind == MACHO_SEGMENT) {
            error = take_segment(macho, macho->slice + offset, offset, command.bytes);
        } else if (command.kind == MACHO_UUID &&
                   command.bytes >= sizeof(command) + MACHO_UUID_BYTES) {
            memcpy(macho->uuid, macho->slice + offset + sizeof(command), MACHO_UUID_BYTES);
            macho->has_uuid = true;
        } else if (command.kind == MACHO_SYMTAB && command.bytes >= sizeof(symtab)) {
            memcpy(&symtab, macho->slice + offset, sizeof(symtab));
            symtab_offset = offset;
        }
        offset += command.bytes;
    }
    if (!error && symtab_offset)
        error = take_symbols(macho, &symtab, symtab_offset);
    if (!error && macho->symbols.length)
        qsort(macho->symbols.data, macho->symbols.length, sizeof(*macho->symbols.data),
              compare_symbols);
    return error;
}

/* --- the slice --- */

static void forget_slice(struct macho *macho)
{
    vec_deinit(&macho->segments);
    vec_deinit(&macho->sections_run);
    vec_deinit(&macho->symbols);
    macho->has_uuid = false;
}

/* Reads the slice if it is the requested one. */
static struct argus_error *try_slice(struct macho *macho, uint64_t offset, uint64_t bytes,
                                     enum macho_cpu cpu, const uint8_t *uuid, bool *ret_fits)
{
    struct macho_header header;
    *ret_fits = false;
    if (!macho_lies_in(offset, bytes, macho->file_bytes) || bytes < sizeof(header))
        return bad(offset, "a slice that ends beyond the end of the file");
    memcpy(&header, macho->file + offset, sizeof(header));
    if (header.magic != MACHO_MAGIC)
        return bad(offset, "no 64-bit Mach-O header");
    if (cpu != MACHO_CPU_ANY && header.cpu != (uint32_t)cpu)
        return NULL;
    macho->slice = macho->file + offset;
    macho->slice_bytes = bytes;
    macho->cpu = (enum macho_cpu)header.cpu;
    struct argus_error *error = take_commands(macho, &header);
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
    if (macho->file_bytes < MACHO_FAT_HEADER_BYTES)
        return bad(0, "too short for a Mach-O file");
    if (big_endian(macho->file) != MACHO_UNIVERSAL)
        return try_slice(macho, 0, macho->file_bytes, cpu, uuid, ret_fits);
    uint32_t count = big_endian(macho->file + 4);
    if (count > MACHO_FAT_SLICES ||
        !macho_lies_in(MACHO_FAT_HEADER_BYTES, count * MACHO_FAT_SLICE_BYTES, macho->file_bytes))
        return bad(4, "more slices than the file has room for");
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < count && !error && !*ret_fits; i++) {
        const uint8_t *at = macho->file + MACHO_FAT_HEADER_BYTES + i * MACHO_FAT_SLICE_BYTES;
        if (cpu == MACHO_CPU_ANY || big_endian(at) == (uint32_t)cpu)
            error = try_slice(macho, big_endian(at + 8), big_endian(at + 12), cpu, uuid, ret_fits);
    }
    return error;
}

static struct argus_error *map_file(struct macho *macho, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return argus_error_os(errno, "cannot open");
    void *mapped = MAP_FAILED;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    if (regular)
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int failed = errno;
    close(fd);
    if (!regular)
        return argus_error_create(ARGUS_ERROR_FORMAT, "no regular file, or empty");
    if (mapped == MAP_FAILED)
        return argus_error_os(failed, "cannot map");
    macho->file = mapped;
    macho->file_bytes = (size_t)status.st_size;
    return NULL;
}

struct argus_error *macho_open(const char *path, enum macho_cpu cpu, const uint8_t *uuid,
                               struct macho **ret)
{
    struct macho *macho = calloc(1, sizeof(*macho));
    bool fits = false;
    *ret = NULL;
    if (!macho)
        return argus_error_memory();
    struct argus_error *error = map_file(macho, path);
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
    if (macho->file)
        munmap((void *)macho->file, macho->file_bytes);
    free(macho);
}
