/* Read with pread() and by hand: three small structs, and every number is checked by whether the file has bytes there. Only the
 * encodings that compilers and linkers of Linux use are known; others say no. */
#include "event/function_range.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "event/elf_file.h"

#define MOST_SEGMENTS  64
#define PCREL_SDATA4   0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define UDATA4         0x03
#define DATAREL_SDATA4 0x3b
#define EXTENDED       0xffffffffu /* a 64-bit length */

struct elf_reader {
    int fd;
    Elf64_Ehdr header;
    Elf64_Phdr segments[MOST_SEGMENTS];
    uint16_t count;
};

static bool read_at(int fd, uint64_t offset, void *ret, size_t bytes)
{
    return offset <= INT64_MAX && pread(fd, ret, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool reader_open(const char *path, struct elf_reader *ret)
{
    ret->fd = elf_open_regular(path, 0);
    if (ret->fd < 0)
        return false;
    const Elf64_Ehdr *header = &ret->header;
    bool good = read_at(ret->fd, 0, &ret->header, sizeof(ret->header)) &&
                memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                header->e_ident[EI_CLASS] == ELFCLASS64 &&
                header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= MOST_SEGMENTS &&
                read_at(ret->fd, header->e_phoff, ret->segments,
                        header->e_phnum * sizeof(ret->segments[0]));
    ret->count = good ? header->e_phnum : 0;
    if (!good)
        close(ret->fd);
    return good;
}

static bool to_address(const struct elf_reader *elf, uint64_t offset, uint64_t *ret)
{
    for (uint16_t i = 0; i < elf->count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type == PT_LOAD && offset >= segment->p_offset &&
            offset - segment->p_offset < segment->p_filesz) {
            *ret = segment->p_vaddr + (offset - segment->p_offset);
            return true;
        }
    }
    return false;
}

static bool to_offset(const struct elf_reader *elf, uint64_t address, uint64_t *ret)
{
    for (uint16_t i = 0; i < elf->count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz) {
            *ret = segment->p_offset + (address - segment->p_vaddr);
            return true;
        }
    }
    return false;
}

/* --- the table --- */

struct table {
    uint64_t address; /* of the header, from which the entries count */
    uint64_t offset;  /* of the first entry in the file */
    uint32_t count;
};

static bool find_table(const struct elf_reader *elf, struct table *ret)
{
    struct {
        uint8_t version, frame_encoding, count_encoding, table_encoding;
        int32_t frame;
        uint32_t count;
    } header;
    for (uint16_t i = 0; i < elf->count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type != PT_GNU_EH_FRAME)
            continue;
        if (!read_at(elf->fd, segment->p_offset, &header, sizeof(header)) || header.version != 1 ||
            header.frame_encoding != PCREL_SDATA4 || header.count_encoding != UDATA4 ||
            header.table_encoding != DATAREL_SDATA4)
            return false;
        *ret = (struct table){segment->p_vaddr, segment->p_offset + sizeof(header), header.count};
        return true;
    }
    return false;
}

struct table_entry {
    int32_t start, frame;
};

/* The last entry that begins at or before `address`. */
static bool find_entry(const struct elf_reader *elf, const struct table *table, uint64_t address,
                       struct table_entry *ret)
{
    uint32_t low = 0, high = table->count;
    bool found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct table_entry entry;
        if (!read_at(elf->fd, table->offset + (uint64_t)middle * sizeof(entry), &entry,
                     sizeof(entry)))
            return false;
        if (table->address + (uint64_t)(int64_t)entry.start <= address) {
            *ret = entry;
            found = true;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return found;
}

/* How many bytes the frame description at `address` is about. */
static bool read_length(const struct elf_reader *elf, uint64_t address, uint64_t *ret)
{
    struct {
        uint32_t length, cie, start, bytes;
    } frame;
    uint64_t offset;
    if (!to_offset(elf, address, &offset) || !read_at(elf->fd, offset, &frame, sizeof(frame)) ||
        frame.length == EXTENDED || frame.length < 12 || frame.cie == 0)
        return false;
    *ret = frame.bytes;
    return true;
}

static bool find_range(const struct elf_reader *elf, uint64_t file_offset, uint64_t *ret_start,
                       uint64_t *ret_bytes)
{
    struct table table;
    struct table_entry entry = {0};
    uint64_t address, bytes;
    if (!to_address(elf, file_offset, &address) || !find_table(elf, &table) ||
        !find_entry(elf, &table, address, &entry) ||
        !read_length(elf, table.address + (uint64_t)(int64_t)entry.frame, &bytes))
        return false;
    uint64_t start = table.address + (uint64_t)(int64_t)entry.start;
    if (address - start >= bytes || !to_offset(elf, start, ret_start))
        return false;
    *ret_bytes = bytes;
    return true;
}

bool function_range_find(const char *path, uint64_t file_offset, uint64_t *ret_start_offset,
                         uint64_t *ret_bytes)
{
    struct elf_reader elf;
    if (!reader_open(path, &elf))
        return false;
    bool found = find_range(&elf, file_offset, ret_start_offset, ret_bytes);
    close(elf.fd);
    return found;
}

/* --- calls --- */

/* x86_64: e8 and a distance of 32 bits; aarch64: bl and one of 26 bits, in words. */
static bool decode_call(const struct elf_reader *elf, uint64_t return_address, const uint8_t *code,
                        uint64_t *ret)
{
    if (elf->header.e_machine == EM_X86_64) {
        int32_t distance;
        memcpy(&distance, code + 1, sizeof(distance));
        *ret = return_address + (uint64_t)(int64_t)distance;
        return code[0] == 0xe8;
    }
    uint32_t word;
    memcpy(&word, code + 1, sizeof(word));
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffffu) << 38) >> 36;
    *ret = return_address - 4 + (uint64_t)distance;
    return elf->header.e_machine == EM_AARCH64 && (word & 0xfc000000u) == 0x94000000u;
}

/* A stub that jumps through a pointer is no function of the file: endbr64? bnd? jmp *x(%rip). */
static bool is_stub(const struct elf_reader *elf, const uint8_t *code)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (elf->header.e_machine != EM_X86_64)
        return (code[3] & 0x9f) == 0x90; /* adrp, as functions hardly ever begin with */
    if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
        code += sizeof(endbr64);
    if (code[0] == 0xf2)
        code++;
    return code[0] == 0xff && code[1] == 0x25;
}

static bool find_called(const struct elf_reader *elf, uint64_t file_offset, uint64_t *ret)
{
    uint8_t call[5], code[8];
    uint64_t address, target, bytes, start;
    if (file_offset < sizeof(call) || !to_address(elf, file_offset, &address) ||
        !read_at(elf->fd, file_offset - sizeof(call), call, sizeof(call)) ||
        !decode_call(elf, address, call, &target) || !to_offset(elf, target, ret) ||
        !read_at(elf->fd, *ret, code, sizeof(code)) || is_stub(elf, code))
        return false;
    return find_range(elf, *ret, &start, &bytes) && start == *ret;
}

bool function_range_called(const char *path, uint64_t file_offset, uint64_t *ret_offset)
{
    struct elf_reader elf;
    if (!reader_open(path, &elf))
        return false;
    bool found = find_called(&elf, file_offset, ret_offset);
    close(elf.fd);
    return found;
}
