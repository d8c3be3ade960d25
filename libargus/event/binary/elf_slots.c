#include "event/binary/elf_slots.h"

#include <elfutils/libdwfl.h>

#include "base/lower_bound.h"
#include "event/binary/elf_private.h"

/* Dynamic relocations by a symbol, and the symbols that they name. */
struct table {
    Elf *elf;
    Elf_Data *relocations, *symbols;
    size_t strings; /* section of the symbols' names */
};

static bool table_open(Elf *elf, Elf_Scn *section, struct table *ret)
{
    GElf_Shdr header, symbols;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize ||
        !(header.sh_flags & SHF_ALLOC))
        return false;
    Elf_Scn *linked = elf_getscn(elf, header.sh_link);
    if (!linked || !gelf_getshdr(linked, &symbols) || symbols.sh_type != SHT_DYNSYM)
        return false;
    *ret = (struct table){
        .elf = elf,
        .relocations = elf_getdata(section, NULL),
        .symbols = elf_getdata(linked, NULL),
        .strings = symbols.sh_link,
    };
    return ret->relocations && ret->symbols;
}

/* Whether the linker's relocation fills a word of the program's own: a variable that it copies from
 * a library, or a pointer that begins with the address of a symbol, and may change. By the
 * processor supplements of the System V ABI. */
static bool is_variable(const struct table *table, uint64_t type)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(table->elf, &header))
        return true;
    if (header.e_machine == EM_AARCH64)
        return type == R_AARCH64_COPY || type == R_AARCH64_ABS64;
    return header.e_machine == EM_X86_64 && (type == R_X86_64_COPY || type == R_X86_64_64);
}

static bool read_slot(const struct table *table, size_t index, struct elf_slot *ret)
{
    GElf_Rela rela;
    GElf_Sym symbol;
    if (!gelf_getrela(table->relocations, (int)index, &rela) || GELF_R_SYM(rela.r_info) == 0 ||
        is_variable(table, GELF_R_TYPE(rela.r_info)) ||
        !gelf_getsym(table->symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
        return false;
    *ret = (struct elf_slot){
        .place = rela.r_offset,
        .name = elf_strptr(table->elf, table->strings, symbol.st_name),
        .value = symbol.st_value + (uint64_t)rela.r_addend,
        .is_defined = symbol.st_shndx != SHN_UNDEF,
        .is_thread_local = GELF_ST_TYPE(symbol.st_info) == STT_TLS,
    };
    return ret->name && ret->name[0];
}

static void read_table(struct elf_slots *slots, const struct table *table)
{
    struct elf_slot slot;
    size_t bytes = gelf_fsize(table->elf, ELF_T_RELA, 1, EV_CURRENT);
    size_t count = bytes ? table->relocations->d_size / bytes : 0;
    for (size_t i = 0; i < count; i++)
        if (read_slot(table, i, &slot) && !vec_push(&slots->all, slot))
            return;
}

static int by_place(const void *left, const void *right)
{
    const struct elf_slot *a = left, *b = right;
    return a->place < b->place ? -1 : a->place > b->place;
}

void elf_slots_init(struct elf_slots *slots, const struct elf_file *file)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    Elf_Scn *section = NULL;
    struct table table;
    *slots = (struct elf_slots){0};
    while (elf && (section = elf_nextscn(elf, section)))
        if (table_open(elf, section, &table))
            read_table(slots, &table);
    if (slots->all.length)
        qsort(slots->all.data, slots->all.length, sizeof(*slots->all.data), by_place);
}

void elf_slots_deinit(struct elf_slots *slots)
{
    vec_deinit(&slots->all);
}

const struct elf_slot *elf_slots_find(const struct elf_slots *slots, uint64_t place)
{
    size_t at;
    const struct elf_slot *all = slots->all.data;
    LOWER_BOUND(at, slots->all.length, all[at].place < place);
    return at < slots->all.length && all[at].place == place ? &all[at] : NULL;
}
