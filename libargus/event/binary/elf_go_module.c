/* The section of the table has no reference to the beginning of the code or to inlined functions.
 * They are in the variable runtime.firstmoduledata (struct moduledata of Go's runtime/symtab.go),
 * which begins with a pointer to the table. In a position-independent program, the pointers are only
 * in the relocations.
 */
#include "event/binary/elf_go_module.h"

#include <string.h>

#include "event/binary/elf_private.h"

#define MAGIC_OLD 0xfffffff0u /* Go 1.18 */
#define MAGIC     0xfffffff1u /* Go 1.20 */

enum { WORD = 8, WORD_TEXT = 22, WORD_TREES_OLD = 38, WORD_TREES = 40 };

bool elf_view_u32(struct elf_view view, uint64_t offset_bytes, uint32_t *ret)
{
    if (offset_bytes > view.bytes || view.bytes - offset_bytes < sizeof(*ret))
        return false;
    memcpy(ret, view.data + offset_bytes, sizeof(*ret));
    return true;
}

bool elf_view_u64(struct elf_view view, uint64_t offset_bytes, uint64_t *ret)
{
    if (offset_bytes > view.bytes || view.bytes - offset_bytes < sizeof(*ret))
        return false;
    memcpy(ret, view.data + offset_bytes, sizeof(*ret));
    return true;
}

struct place {
    Elf *elf;
    Elf_Scn *section;
    GElf_Shdr header;
};

static bool next_section(struct place *place)
{
    place->section = elf_nextscn(place->elf, place->section);
    return place->section && gelf_getshdr(place->section, &place->header);
}

static struct elf_view view_of(const struct place *place, uint64_t address)
{
    const Elf_Data *data =
        place->header.sh_type == SHT_NOBITS ? NULL : elf_rawdata(place->section, NULL);
    uint64_t skipped = address - place->header.sh_addr;
    if (!data || !data->d_buf || skipped >= data->d_size)
        return (struct elf_view){NULL, 0};
    return (struct elf_view){(const uint8_t *)data->d_buf + skipped, data->d_size - skipped};
}

static bool find_table(Elf *elf, struct elf_view *ret, uint64_t *ret_address)
{
    static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
    struct place place = {.elf = elf};
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return false;
    while (next_section(&place)) {
        const char *name = elf_strptr(elf, strings, place.header.sh_name);
        if (!name || (strcmp(name, names[0]) != 0 && strcmp(name, names[1]) != 0))
            continue;
        *ret = view_of(&place, place.header.sh_addr);
        *ret_address = place.header.sh_addr;
        return ret->data != NULL;
    }
    return false;
}

/* The bytes from `address` to the end of its section. */
static struct elf_view view_at(Elf *elf, uint64_t address)
{
    struct place place = {.elf = elf};
    while (next_section(&place))
        if ((place.header.sh_flags & SHF_ALLOC) && address >= place.header.sh_addr &&
            address - place.header.sh_addr < place.header.sh_size)
            return view_of(&place, address);
    return (struct elf_view){NULL, 0};
}

/* --- relocations that add where the program was loaded --- */

/* Calls `is_wanted` for each one until it returns true. */
static bool any_relocation(Elf *elf, bool (*is_wanted)(const GElf_Rela *rela, uint64_t wanted),
                           uint64_t wanted, GElf_Rela *ret)
{
    struct place place = {.elf = elf};
    while (next_section(&place)) {
        Elf_Data *data = place.header.sh_type == SHT_RELA ? elf_getdata(place.section, NULL) : NULL;
        size_t count = data && place.header.sh_entsize ? data->d_size / place.header.sh_entsize : 0;
        for (size_t i = 0; i < count; i++)
            if (gelf_getrela(data, (int)i, ret) && GELF_R_SYM(ret->r_info) == 0 &&
                is_wanted(ret, wanted))
                return true;
    }
    return false;
}

static bool is_value(const GElf_Rela *rela, uint64_t wanted)
{
    return (uint64_t)rela->r_addend == wanted;
}

static bool is_place(const GElf_Rela *rela, uint64_t wanted)
{
    return rela->r_offset == wanted;
}

/* The pointer at `address`, as it is when the program is loaded at 0. */
static bool read_pointer(Elf *elf, uint64_t address, uint64_t *ret)
{
    GElf_Rela rela;
    if (any_relocation(elf, is_place, address, &rela)) {
        *ret = (uint64_t)rela.r_addend;
        return true;
    }
    return elf_view_u64(view_at(elf, address), 0, ret);
}

/* --- the variable --- */

static bool is_in_code(const struct elf_file *file, uint64_t address)
{
    uint64_t start;
    size_t bytes;
    for (size_t i = 0; elf_file_code(file, i, &start, &bytes); i++)
        if (address >= start && address - start < bytes)
            return true;
    return false;
}

/* Whether it is at `address`: the beginning of the code tells it from another pointer to the table. */
static bool is_module(const struct elf_file *file, Elf *elf, uint64_t address, uint64_t *ret_text)
{
    return read_pointer(elf, address + WORD_TEXT * WORD, ret_text) && is_in_code(file, *ret_text);
}

static bool find_in_data(const struct elf_file *file, Elf *elf, uint64_t table, uint64_t *ret,
                         uint64_t *ret_text)
{
    enum { MOST_CANDIDATES = 16 };
    struct place place = {.elf = elf};
    int candidates = 0;
    while (next_section(&place)) {
        bool is_data = place.header.sh_type == SHT_PROGBITS &&
                       (place.header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) ==
                           (SHF_ALLOC | SHF_WRITE);
        struct elf_view view =
            is_data ? view_of(&place, place.header.sh_addr) : (struct elf_view){NULL, 0};
        uint64_t word;
        for (uint64_t at = 0; elf_view_u64(view, at, &word) && candidates < MOST_CANDIDATES;
             at += WORD) {
            *ret = place.header.sh_addr + at;
            if (word == table && is_module(file, elf, *ret, ret_text))
                return true;
            candidates += word == table;
        }
    }
    return false;
}

static bool find_variable(const struct elf_file *file, Elf *elf, uint64_t table, uint64_t *ret,
                          uint64_t *ret_text)
{
    GElf_Rela rela;
    if (find_in_data(file, elf, table, ret, ret_text))
        return true;
    if (!any_relocation(elf, is_value, table, &rela))
        return false;
    *ret = rela.r_offset;
    return is_module(file, elf, *ret, ret_text);
}

bool elf_go_module_find(const struct elf_file *file, struct elf_go_module *ret)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    uint64_t table, variable, trees;
    uint32_t magic;
    if (!elf || !find_table(elf, &ret->table, &table) || !elf_view_u32(ret->table, 0, &magic) ||
        (magic != MAGIC && magic != MAGIC_OLD) ||
        !find_variable(file, elf, table, &variable, &ret->text))
        return false;
    ret->is_old = magic == MAGIC_OLD;
    ret->trees = (struct elf_view){NULL, 0};
    uint64_t word = ret->is_old ? WORD_TREES_OLD : WORD_TREES;
    if (read_pointer(elf, variable + word * WORD, &trees))
        ret->trees = view_at(elf, trees);
    return true;
}
