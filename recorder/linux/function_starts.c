#include "linux/function_starts.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "linux/instruction_length.h"

#define SEGMENTS_MOST 128
#define FARTHEST      48u /* from the function's beginning, as plugin/probes/probe_place.c */

/* The only encodings that linkers write (DW_EH_PE_…): a pointer and a count of 32 bits, and a table
 * of pairs of 32 bits relative to the table's section. */
static const uint8_t usual_header[] = {1, 0x1b, 0x03, 0x3b};

struct segments {
    Elf64_Phdr rows[SEGMENTS_MOST];
    unsigned count;
};

/* Of one function: addresses. */
struct pair {
    int32_t start, description;
};

struct function {
    uint64_t start, description;
};

static bool read_at(int fd, uint64_t offset, void *ret, size_t bytes)
{
    return offset <= INT64_MAX && pread(fd, ret, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool read_segments(int fd, struct segments *ret)
{
    Elf64_Ehdr header;
    if (!read_at(fd, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MOST)
        return false;
    ret->count = header.e_phnum;
    return read_at(fd, header.e_phoff, ret->rows, ret->count * sizeof(Elf64_Phdr));
}

/* The address of an offset in executable code. */
static bool find_address(const struct segments *segments, uint64_t offset, uint64_t *ret)
{
    for (unsigned i = 0; i < segments->count; i++) {
        const Elf64_Phdr *row = &segments->rows[i];
        *ret = offset - row->p_offset + row->p_vaddr;
        if (row->p_type == PT_LOAD && row->p_flags & PF_X && offset - row->p_offset < row->p_filesz)
            return true;
    }
    return false;
}

static bool read_address(int fd, const struct segments *segments, uint64_t address, void *ret,
                         size_t bytes)
{
    for (unsigned i = 0; i < segments->count; i++) {
        const Elf64_Phdr *row = &segments->rows[i];
        uint64_t in = address - row->p_vaddr;
        if (row->p_type == PT_LOAD && in < row->p_filesz && bytes <= row->p_filesz - in)
            return read_at(fd, row->p_offset + in, ret, bytes);
    }
    return false;
}

static const Elf64_Phdr *find_table(const struct segments *segments)
{
    for (unsigned i = 0; i < segments->count; i++)
        if (segments->rows[i].p_type == PT_GNU_EH_FRAME)
            return &segments->rows[i];
    return NULL;
}

/* The last function that begins at `address` or before. */
static bool find_function(int fd, const struct segments *segments, uint64_t address,
                          struct function *ret)
{
    uint8_t header[12];
    uint32_t count;
    const Elf64_Phdr *table = find_table(segments);
    if (!table || !read_at(fd, table->p_offset, header, sizeof(header)) ||
        memcmp(header, usual_header, sizeof(usual_header)) != 0)
        return false;
    memcpy(&count, header + 8, sizeof(count));
    uint64_t first = 0, end = count;
    struct pair pair;
    while (first < end) {
        uint64_t middle = (first + end) / 2;
        if (!read_at(fd, table->p_offset + sizeof(header) + middle * sizeof(pair), &pair,
                     sizeof(pair)))
            return false;
        uint64_t start = table->p_vaddr + (uint64_t)(int64_t)pair.start;
        if (start > address) {
            end = middle;
            continue;
        }
        *ret = (struct function){start, table->p_vaddr + (uint64_t)(int64_t)pair.description};
        first = middle + 1;
    }
    return first > 0;
}

/* Whether the stack pointer is still where the caller's call has left it: the first rule about the
 * frame comes later (DW_CFA_advance_loc…), or never. It is not so in the second part of a function
 * that a compiler has split, and in linkage tables. */
static bool begins_after_a_call(int fd, const struct segments *segments, uint64_t description)
{
    uint8_t bytes[18]; /* length, CIE, start, range (32 bits each), augmentation's length, rule */
    if (!read_address(fd, segments, description, bytes, sizeof(bytes)))
        return false;
    size_t rules_at = 17u + bytes[16];
    uint8_t rule;
    uint32_t length;
    memcpy(&length, bytes, sizeof(length));
    if (bytes[16] >= 0x80 || length >= UINT32_MAX - 16)
        return false;
    if (rules_at >= 4u + length)
        return true;
    return read_address(fd, segments, description + rules_at, &rule, 1) &&
           (rule == 0x00 || rule >> 6 == 1 || (rule >= 0x02 && rule <= 0x04));
}

static bool begins_instruction(int fd, uint64_t offset, uint64_t behind)
{
    uint8_t code[FARTHEST + 16];
    uint64_t at = 0;
    ssize_t bytes = pread(fd, code, sizeof(code), (off_t)(offset - behind));
    while (bytes > 0 && at < behind) {
        size_t length = instruction_length(code + at, (size_t)bytes - at);
        if (!length)
            return false;
        at += length;
    }
    return at == behind;
}

bool function_starts_allow(int fd, uint64_t offset, bool at_return)
{
    struct segments segments;
    struct function function = {0};
    uint64_t address;
    if (!read_segments(fd, &segments) || !find_address(&segments, offset, &address) ||
        !find_function(fd, &segments, address, &function))
        return false;
    uint64_t behind = address - function.start;
    if (at_return)
        return behind == 0 && begins_after_a_call(fd, &segments, function.description);
    return behind <= FARTHEST && behind <= offset && begins_instruction(fd, offset, behind);
}
