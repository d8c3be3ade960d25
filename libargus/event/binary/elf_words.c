/* The dynamic linker adds the load address to most pointers (R_…_RELATIVE); such a relocation has
 * the address itself, and the bytes of the file may be zero. Without a relocation, they are the
 * pointer. */
#include "event/binary/elf_words.h"

#include <elfutils/libdwfl.h>

#include "event/binary/elf_private.h"

static Elf *elf_of(const struct elf_file *file)
{
    GElf_Addr bias;
    return dwfl_module_getelf(elf_file_module(file), &bias);
}

bool elf_word_is_constant(const struct elf_file *file, uint64_t address)
{
    enum { MOST_SEGMENTS = 1024 }; /* programs have about ten */
    Elf *elf = elf_of(file);
    GElf_Phdr header;
    size_t count = 0;
    bool is_constant = false;
    if (!elf || elf_getphdrnum(elf, &count) != 0 || count > MOST_SEGMENTS)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &header) || address - header.p_vaddr >= header.p_memsz)
            continue;
        is_constant |= header.p_type == PT_GNU_RELRO;
        is_constant |= header.p_type == PT_LOAD && !(header.p_flags & PF_W);
    }
    return is_constant;
}

bool elf_words_are_final(const struct elf_file *file)
{
    GElf_Ehdr header;
    Elf *elf = elf_of(file);
    return elf && gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
}

/* By the processor supplements of the System V ABI. */
enum pointer_kind { POINTER_OTHER, POINTER_RELATIVE, POINTER_OF_SYMBOL };

static enum pointer_kind kind_of(Elf *elf, uint64_t type)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return POINTER_OTHER;
    bool is_arm64 = header.e_machine == EM_AARCH64;
    if (type == (is_arm64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE))
        return POINTER_RELATIVE;
    return type == (is_arm64 ? R_AARCH64_ABS64 : R_X86_64_64) ? POINTER_OF_SYMBOL : POINTER_OTHER;
}

/* Of a symbol that the file itself has; another file may replace it. */
static bool read_symbol(Elf *elf, size_t table, const GElf_Rela *rela, uint64_t *ret)
{
    GElf_Sym symbol;
    Elf_Scn *section = elf_getscn(elf, table);
    Elf_Data *symbols = section ? elf_getdata(section, NULL) : NULL;
    if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol) ||
        symbol.st_shndx == SHN_UNDEF)
        return false;
    *ret = symbol.st_value + (uint64_t)rela->r_addend;
    return true;
}

/* In one table of relocations. `*ret_found`: it has one of that word. False: the pointer is not
 * known. */
static bool search_table(Elf *elf, Elf_Scn *section, size_t symbols, uint64_t address,
                         uint64_t *ret, bool *ret_found)
{
    GElf_Rela rela;
    Elf_Data *data = elf_getdata(section, NULL);
    size_t bytes = gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
    size_t count = data && bytes ? data->d_size / bytes : 0;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != address)
            continue;
        *ret_found = true;
        *ret = (uint64_t)rela.r_addend;
        enum pointer_kind kind = kind_of(elf, GELF_R_TYPE(rela.r_info));
        return kind == POINTER_RELATIVE ||
               (kind == POINTER_OF_SYMBOL && read_symbol(elf, symbols, &rela, ret));
    }
    return false;
}

bool elf_word_pointer(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
    Elf *elf = elf_of(file);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    uint64_t offset;
    bool is_found = false;
    while (elf && (section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
            !(header.sh_flags & SHF_ALLOC))
            continue;
        bool is_known = search_table(elf, section, header.sh_link, address, ret, &is_found);
        if (is_found)
            return is_known && *ret;
    }
    return elf_file_offset(file, address, &offset) &&
           elf_file_read(file, offset, sizeof(*ret), ret) && *ret;
}

bool elf_function_is_constructor(const struct elf_file *file, uint64_t address)
{
    enum { MOST_WORDS = 4096, WORD_BYTES = 8 };
    Elf *elf = elf_of(file);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    uint64_t pointer;
    while (elf && (section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_INIT_ARRAY)
            continue;
        for (uint64_t i = 0; i < header.sh_size / WORD_BYTES && i < MOST_WORDS; i++)
            if (elf_word_pointer(file, header.sh_addr + i * WORD_BYTES, &pointer) &&
                pointer == address)
                return true;
    }
    return false;
}
