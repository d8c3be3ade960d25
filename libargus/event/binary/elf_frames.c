/* Finds the starts of functions without symbols. .eh_frame_hdr has a sorted table of the starts of
 * all functions with unwind information (Linux Standard Base, "Exception Frames"), and stripped
 * files keep it. */
#include "event/binary/elf_frames.h"

#include <gelf.h>
#include <string.h>

#include "base/lower_bound.h"

/* The encodings that every linker writes: signed 32 bits, relative to its own address or to the
 * table's start. */
enum { VERSION = 1, PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b, HEADER_BYTES = 12 };

/* A row: addresses of the function and of its unwind information, both relative to the start of the
 * header. */
struct row {
    int32_t function, description;
};

static bool find_header(Elf *elf, GElf_Phdr *ret)
{
    size_t count = 0;
    if (elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME)
            return true;
    return false;
}

static struct row row_at(const uint8_t *bytes, size_t index)
{
    struct row row;
    memcpy(&row, bytes + HEADER_BYTES + index * sizeof(row), sizeof(row));
    return row;
}

bool elf_frames_find(Elf *elf, uint64_t address, struct elf_frame *ret)
{
    GElf_Phdr header;
    if (!elf || !find_header(elf, &header))
        return false;
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    const uint8_t *bytes = data ? data->d_buf : NULL;
    if (!bytes || data->d_size < HEADER_BYTES || bytes[0] != VERSION || bytes[1] != PCREL_SDATA4 ||
        bytes[2] != UDATA4 || bytes[3] != DATAREL_SDATA4)
        return false;
    uint32_t count;
    memcpy(&count, bytes + 8, sizeof(count));
    size_t behind, room = (data->d_size - HEADER_BYTES) / sizeof(struct row);
    int64_t wanted = (int64_t)(address - header.p_vaddr);
    LOWER_BOUND(behind, count < room ? count : room, row_at(bytes, behind).function <= wanted);
    if (behind == 0)
        return false;
    struct row row = row_at(bytes, behind - 1);
    ret->start = header.p_vaddr + (uint64_t)(int64_t)row.function;
    ret->description = header.p_vaddr + (uint64_t)(int64_t)row.description;
    return true;
}
