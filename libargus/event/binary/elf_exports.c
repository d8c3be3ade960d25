#include "event/binary/elf_exports.h"

#include <elfutils/libdwfl.h>
#include <string.h>

#include "event/binary/elf_private.h"

struct table {
    Elf *elf;
    Elf_Data *symbols;
    size_t strings; /* section of the symbols' names */
    size_t count;
};

static bool table_open(const struct elf_file *file, struct table *ret)
{
    GElf_Addr bias;
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    ret->elf = dwfl_module_getelf(elf_file_module(file), &bias);
    while (ret->elf && (section = elf_nextscn(ret->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM) {
            size_t bytes = gelf_fsize(ret->elf, ELF_T_SYM, 1, EV_CURRENT);
            ret->symbols = elf_getdata(section, NULL);
            ret->strings = header.sh_link;
            ret->count = ret->symbols && bytes ? ret->symbols->d_size / bytes : 0;
            return ret->count > 0;
        }
    return false;
}

/* A file that takes a variable from another one may not know its type. */
static bool is_variable(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    if (binding == STB_LOCAL)
        return false;
    return type == STT_OBJECT || type == STT_COMMON ||
           (type == STT_NOTYPE && symbol->st_shndx == SHN_UNDEF);
}

static bool read_symbol(const struct table *table, size_t index, struct elf_export *ret)
{
    GElf_Sym symbol;
    if (!gelf_getsym(table->symbols, (int)index, &symbol) || !is_variable(&symbol))
        return false;
    *ret = (struct elf_export){
        .name = elf_strptr(table->elf, table->strings, symbol.st_name),
        .address = symbol.st_value,
        .bytes = symbol.st_size,
        .is_defined = symbol.st_shndx != SHN_UNDEF,
    };
    return ret->name && ret->name[0];
}

bool elf_export_find(const struct elf_file *file, const char *name, struct elf_export *ret)
{
    struct table table;
    if (!table_open(file, &table))
        return false;
    for (size_t i = 0; i < table.count; i++)
        if (read_symbol(&table, i, ret) && strcmp(ret->name, name) == 0)
            return true;
    return false;
}

bool elf_export_function(const struct elf_file *file, const char *name, uint64_t *ret)
{
    struct table table;
    GElf_Sym symbol;
    if (!table_open(file, &table))
        return false;
    for (size_t i = 0; i < table.count; i++) {
        if (!gelf_getsym(table.symbols, (int)i, &symbol) ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *found = elf_strptr(table.elf, table.strings, symbol.st_name);
        if (!found || strcmp(found, name) != 0)
            continue;
        *ret = symbol.st_value;
        return true;
    }
    return false;
}

bool elf_import_find(const struct elf_file *file, const char *name)
{
    struct table table;
    GElf_Sym symbol;
    if (!table_open(file, &table))
        return false;
    for (size_t i = 0; i < table.count; i++) {
        if (!gelf_getsym(table.symbols, (int)i, &symbol) || symbol.st_shndx != SHN_UNDEF)
            continue;
        const char *found = elf_strptr(table.elf, table.strings, symbol.st_name);
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

bool elf_export_at(const struct elf_file *file, uint64_t address, struct elf_export *ret)
{
    struct table table;
    if (!table_open(file, &table))
        return false;
    for (size_t i = 0; i < table.count; i++)
        if (read_symbol(&table, i, ret) && ret->is_defined && address - ret->address < ret->bytes)
            return true;
    return false;
}
