#include "event/binary/function_range.h"

#include <string.h>

#include "event/binary/elf_file.h"

static struct elf_file *open_any(const char *path)
{
    bool stale;
    return elf_file_open(path, &(struct elf_identity){0}, &stale);
}

static bool find_range(struct elf_file *file, uint64_t file_offset, uint64_t *ret_start_offset,
                       uint64_t *ret_bytes)
{
    uint64_t address, start;
    return elf_file_address(file, file_offset, &address) &&
           elf_file_function_range(file, address, &start, ret_bytes) &&
           elf_file_offset(file, start, ret_start_offset);
}

bool function_range_find(const char *path, uint64_t file_offset, uint64_t *ret_start_offset,
                         uint64_t *ret_bytes)
{
    struct elf_file *file = open_any(path);
    bool found = file && find_range(file, file_offset, ret_start_offset, ret_bytes);
    elf_file_close(file);
    return found;
}

/* x86: e8 and a 32-bit distance; aarch64: bl and a 26-bit distance in words. */
static bool decode_call(unsigned machine, uint64_t return_address, const uint8_t *code,
                        uint64_t *ret)
{
    if (machine != ELF_MACHINE_AARCH64) {
        int32_t distance;
        memcpy(&distance, code + 1, sizeof(distance));
        *ret = return_address + (uint64_t)(int64_t)distance;
        return code[0] == 0xe8 && (machine == ELF_MACHINE_X86_64 || machine == ELF_MACHINE_386);
    }
    uint32_t word;
    memcpy(&word, code + 1, sizeof(word));
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffffu) << 38) >> 36;
    *ret = return_address - 4 + (uint64_t)distance;
    return (word & 0xfc000000u) == 0x94000000u;
}

/* Whether it is a stub that jumps through a pointer, not a function of the file: endbr? bnd? jmp
 * *x(%rip); on i386 *x or *x(%ebx). */
static bool is_stub(unsigned machine, const uint8_t *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e}; /* fa: endbr64, fb: endbr32 */
    if (machine == ELF_MACHINE_AARCH64)
        return (code[3] & 0x9f) == 0x90; /* adrp, with which functions rarely begin */
    if (memcmp(code, endbr, sizeof(endbr)) == 0 && (code[3] & 0xfe) == 0xfa)
        code += sizeof(endbr) + 1;
    if (code[0] == 0xf2)
        code++;
    return code[0] == 0xff && (code[1] == 0x25 || (code[1] == 0xa3 && machine == ELF_MACHINE_386));
}

static bool find_called(struct elf_file *file, uint64_t file_offset, uint64_t *ret)
{
    uint8_t call[5], code[8];
    uint64_t address, target, bytes, start;
    unsigned machine = elf_file_machine(file);
    if (file_offset < sizeof(call) || !elf_file_address(file, file_offset, &address) ||
        !elf_file_read(file, file_offset - sizeof(call), sizeof(call), call) ||
        !decode_call(machine, address, call, &target) || !elf_file_offset(file, target, ret) ||
        !elf_file_read(file, *ret, sizeof(code), code) || is_stub(machine, code))
        return false;
    return find_range(file, *ret, &start, &bytes) && start == *ret;
}

bool function_range_called(const char *path, uint64_t file_offset, uint64_t *ret_offset)
{
    struct elf_file *file = open_any(path);
    bool found = file && find_called(file, file_offset, ret_offset);
    elf_file_close(file);
    return found;
}
