#include "event/binary/elf_inlines.h"

#include <dwarf.h>

#include "event/binary/elf_private.h"

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dwarf_attr_integrate(die, attribute, &found) ? dwarf_formstring(&found) : NULL;
}

static bool number_of(Dwarf_Die *die, unsigned attribute, Dwarf_Word *ret)
{
    Dwarf_Attribute found;
    return dwarf_attr(die, attribute, &found) && dwarf_formudata(&found, ret) == 0;
}

/* The linkage name has scopes and parameters. Compilers of C and Go give none, nor does gcc for C++
 * functions that are local to a file. */
static const char *function_of(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !name; i++)
        name = text_of(die, names[i]);
    return name;
}

static const char *source_of(Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t count;
    bool found = number_of(die, DW_AT_call_file, &number) &&
                 dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count;
    return found ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
}

static struct elf_inline inline_of(Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Word line = 0;
    return (struct elf_inline){
        .function = function_of(die),
        .source = source_of(unit, die),
        .line = number_of(die, DW_AT_call_line, &line) && line <= UINT32_MAX ? (uint32_t)line : 0,
    };
}

/* The entry inside `die` that has the code at `address`: a block or an inlined function. */
static bool find_inside(Dwarf_Die *die, uint64_t address, Dwarf_Die *ret)
{
    int more = dwarf_child(die, ret);
    for (; more == 0; more = dwarf_siblingof(ret, ret)) {
        int tag = dwarf_tag(ret);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(ret, address) > 0)
            return true;
    }
    return false;
}

static void reverse(struct elf_inline *inlines, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct elf_inline swapped = inlines[i];
        inlines[i] = inlines[count - 1 - i];
        inlines[count - 1 - i] = swapped;
    }
}

size_t elf_file_inlines(struct elf_file *file, uint64_t address,
                        struct elf_inline ret[ELF_INLINES_MAX])
{
    struct elf_units *units = elf_file_units(file);
    struct elf_unit *unit = units ? elf_units_find(units, address) : NULL;
    struct elf_go *go = unit ? NULL : elf_file_go(file);
    Dwarf_Die die, inside;
    size_t count = 0;
    if (!unit || !elf_unit_function(units, unit, address, &die))
        return go ? elf_go_inlines(go, address, ret) : 0;
    for (; count < ELF_INLINES_MAX && find_inside(&die, address - units->bias, &inside);
         die = inside) {
        if (dwarf_tag(&inside) != DW_TAG_inlined_subroutine)
            continue;
        ret[count] = inline_of(&unit->code, &inside);
        count += ret[count].function != NULL;
    }
    reverse(ret, count);
    return count;
}
