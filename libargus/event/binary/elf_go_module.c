/* The section of the table has no reference to the beginning of the code or to inlined functions.
 * They are in the variable runtime.firstmoduledata (struct moduledata of Go's runtime/symtab.go),
 * which begins with a pointer to the table. In a position-independent program, the pointers are
 * only in the relocations.
 *
 * Before Go 1.18, the table has addresses, so that variable is not needed. Those of
 * position-independent programs are in the relocations, too, and are not read.
 */
#include "event/binary/elf_go_module.h"

#include <string.h>

#include "event/binary/elf_private.h"

enum { WORD = 8, WORD_TEXT = 22 };

/* A version's source has them in runtime/symtab.go, internal/abi/symtab.go and runtime/funcdata.h.
 * To add a layout: a row. */
static const struct elf_go_layout layouts[] = {
    {/* Go 1.20 */
     .magic = 0xfffffff1u,
     .header_offsets = 32,
     .name = 4,
     .files = 20,
     .lines = 24,
     .lists = 28,
     .unit = 32,
     .bytes = 44,
     .data_inlined = 3,
     .tree_bytes = 16,
     .tree_name = 4,
     .tree_caller = 8,
     .trees_word = 40},
    {/* Go 1.18 */
     .magic = 0xfffffff0u,
     .header_offsets = 32,
     .name = 4,
     .files = 20,
     .lines = 24,
     .lists = 28,
     .unit = 32,
     .bytes = 40,
     .data_inlined = 3,
     .tree_bytes = 20,
     .tree_name = 12,
     .tree_caller = 16,
     .trees_word = 38},
    {/* Go 1.16 */
     .magic = 0xfffffffau,
     .has_addresses = true,
     .header_offsets = 24,
     .name = 8,
     .files = 24,
     .lines = 28,
     .lists = 32,
     .unit = 36,
     .bytes = 44,
     .data_inlined = 3,
     .tree_bytes = 20,
     .tree_name = 12,
     .tree_caller = 16},
    {/* Go 1.2; inlined functions from Go 1.13 on, since the lists of Go 1.12 have another order */
     .magic = 0xfffffffbu,
     .has_addresses = true,
     .name = 8,
     .files = 24,
     .lines = 28,
     .lists = 32,
     .bytes = 40,
     .data_inlined = 4,
     .tree_bytes = 20,
     .tree_name = 12,
     .tree_caller = 16},
};

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

static bool find_section(struct place *place, const char *wanted)
{
    size_t strings;
    if (elf_getshdrstrndx(place->elf, &strings) != 0)
        return false;
    while (next_section(place)) {
        const char *name = elf_strptr(place->elf, strings, place->header.sh_name);
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static bool find_table(Elf *elf, struct elf_view *ret, uint64_t *ret_address)
{
    struct place place = {.elf = elf}, relocated = {.elf = elf};
    if (!find_section(&place, ".gopclntab")) {
        if (!find_section(&relocated, ".data.rel.ro.gopclntab"))
            return false;
        place = relocated;
    }
    *ret = view_of(&place, place.header.sh_addr);
    *ret_address = place.header.sh_addr;
    return ret->data != NULL;
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

/* Whether it is at `address`: the beginning of the code tells it from another pointer to the table.
 */
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

static const struct elf_go_layout *layout_of(struct elf_view table)
{
    uint32_t magic = 0;
    elf_view_u32(table, 0, &magic);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        if (layouts[i].magic == magic)
            return &layouts[i];
    return NULL;
}

struct elf_view elf_go_view_at(const struct elf_file *file, uint64_t address)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    return elf ? view_at(elf, address) : (struct elf_view){NULL, 0};
}

bool elf_go_module_find(const struct elf_file *file, struct elf_go_module *ret)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(elf_file_module(file), &bias);
    uint64_t table, variable, trees;
    *ret = (struct elf_go_module){.text = 0};
    if (!elf || !find_table(elf, &ret->table, &table))
        return false;
    ret->layout = layout_of(ret->table);
    if (!ret->layout)
        return false;
    if (ret->layout->has_addresses) {
        struct place place = {.elf = elf};
        ret->has_trees =
            ret->layout->header_offsets || find_section(&place, ".go.buildinfo"); /* Go 1.13 */
        return true;
    }
    if (!find_variable(file, elf, table, &variable, &ret->text))
        return false;
    ret->has_trees = read_pointer(elf, variable + ret->layout->trees_word * WORD, &trees);
    if (ret->has_trees)
        ret->trees = view_at(elf, trees);
    return true;
}
