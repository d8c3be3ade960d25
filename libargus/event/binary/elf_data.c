/* Finds the variables of an ELF file. */
#include "event/binary/elf_file.h"

#include <elfutils/libdwfl.h>

#include "event/binary/elf_private.h"

bool elf_file_variable_at(struct elf_file *file, uint64_t address, bool is_thread_local,
                          struct elf_variable *ret)
{
    Dwfl_Module *module = elf_file_module(file);
    int type = is_thread_local ? STT_TLS : STT_OBJECT, count = dwfl_module_getsymtab(module);
    bool found = false;
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr start;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &start, NULL, NULL, NULL);
        if (!name || GELF_ST_TYPE(symbol.st_info) != type || symbol.st_shndx == SHN_UNDEF)
            continue;
        if (is_thread_local)
            start = symbol.st_value;
        if (address < start || address - start >= symbol.st_size ||
            (found && ret->size_bytes <= symbol.st_size))
            continue;
        *ret = (struct elf_variable){name, address - start, symbol.st_size};
        found = true;
    }
    return found;
}

/* Calls `function` for each program header until it returns true. */
static bool any_header(const struct elf_file *file,
                       bool (*function)(const GElf_Phdr *header, uint64_t *value), uint64_t *value)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && function(&header, value))
            return true;
    }
    return false;
}

static bool reach(const GElf_Phdr *header, uint64_t *end)
{
    if (header->p_type == PT_LOAD && header->p_vaddr + header->p_memsz > *end)
        *end = header->p_vaddr + header->p_memsz;
    return false;
}

static bool is_thread_block(const GElf_Phdr *header, uint64_t *bytes)
{
    if (header->p_type != PT_TLS)
        return false;
    uint64_t align = header->p_align ? header->p_align : 1;
    *bytes = (header->p_memsz + align - 1) / align * align;
    return true;
}

static bool is_interpreter(const GElf_Phdr *header, uint64_t *unused)
{
    (void)unused;
    return header->p_type == PT_INTERP;
}

uint64_t elf_file_end(const struct elf_file *file)
{
    uint64_t end = 0;
    any_header(file, reach, &end);
    return end;
}

uint64_t elf_file_thread_block(const struct elf_file *file)
{
    uint64_t bytes = 0;
    any_header(file, is_thread_block, &bytes);
    return bytes;
}

bool elf_file_is_program(const struct elf_file *file)
{
    GElf_Addr bias;
    GElf_Ehdr header;
    uint64_t unused;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    bool fixed = elf && gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
    return fixed || any_header(file, is_interpreter, &unused);
}
