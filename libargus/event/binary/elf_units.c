#include "event/binary/elf_units.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lower_bound.h"

/* Namespaces and types nest; what is deeper is not worth the stack. */
enum { DEEPEST = 64 };

/* --- ranges --- */

static int by_start(const void *left, const void *right)
{
    const struct elf_range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

static void sort(struct elf_ranges *ranges)
{
    if (ranges->length)
        qsort(ranges->data, ranges->length, sizeof(*ranges->data), by_start);
}

static const struct elf_range *find(const struct elf_ranges *ranges, uint64_t address)
{
    size_t behind;
    LOWER_BOUND(behind, ranges->length, ranges->data[behind].start <= address);
    return behind && address < ranges->data[behind - 1].end ? &ranges->data[behind - 1] : NULL;
}

/* Adds the ranges of `die` as those of `item`. False without memory. */
static bool add_ranges(struct elf_ranges *ranges, Dwarf_Die *die, uint64_t item)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (start < end && !vec_push(ranges, (struct elf_range){start, end, item}))
            return false;
    return true;
}

/* --- units --- */

static bool read_units(struct elf_units *units, Dwfl_Module *module)
{
    Dwarf_Addr bias;
    for (Dwarf_Die *die = NULL; (die = dwfl_module_nextcu(module, die, &bias));) {
        if (!vec_push(&units->units, (struct elf_unit){.die = *die}) ||
            !add_ranges(&units->ranges, die, units->units.length - 1))
            return false;
    }
    sort(&units->ranges);
    return true;
}

struct elf_units *elf_units_create(Dwfl_Module *module)
{
    struct elf_units *units = calloc(1, sizeof(*units));
    if (!units)
        return NULL;
    units->module = module;
    units->dwarf = dwfl_module_getdwarf(module, &units->bias);
    if (units->dwarf && !read_units(units, module)) {
        elf_units_destroy(units);
        return NULL;
    }
    return units;
}

void elf_units_destroy(struct elf_units *units)
{
    if (!units)
        return;
    for (size_t i = 0; i < units->units.length; i++)
        vec_deinit(&units->units.data[i].functions);
    vec_deinit(&units->units);
    vec_deinit(&units->ranges);
    free(units->missing);
    free(units);
}

struct elf_unit *elf_units_find(struct elf_units *units, uint64_t address)
{
    const struct elf_range *range = find(&units->ranges, address - units->bias);
    return range ? &units->units.data[range->item] : NULL;
}

/* --- split units --- */

static const char *text_of(Dwarf_Die *die, unsigned attribute, unsigned old_attribute)
{
    Dwarf_Attribute found;
    return dwarf_attr(die, attribute, &found) || dwarf_attr(die, old_attribute, &found)
               ? dwarf_formstring(&found)
               : NULL;
}

/* Whether something that is not a file has the name: libdw would wait for the writer of a FIFO. */
static bool is_trap(const char *folder, size_t folder_bytes, const char *name)
{
    char path[4096];
    struct stat status;
    int length = name[0] == '/'
                     ? snprintf(path, sizeof(path), "%s", name)
                     : snprintf(path, sizeof(path), "%.*s/%s", (int)folder_bytes, folder, name);
    return length >= (int)sizeof(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* The folders are those in which libdw looks. */
static bool is_safe(const struct elf_units *units, Dwarf_Die *skeleton, const char *name)
{
    const char *files[2] = {NULL, NULL};
    const char *folder = text_of(skeleton, DW_AT_comp_dir, DW_AT_comp_dir);
    dwfl_module_info(units->module, NULL, NULL, NULL, NULL, NULL, &files[0], &files[1]);
    for (int i = 0; i < 2; i++) {
        const char *slash = files[i] ? strrchr(files[i], '/') : NULL;
        if (slash && is_trap(files[i], (size_t)(slash - files[i]), name))
            return false;
    }
    return !folder || !is_trap(folder, strlen(folder), name);
}

/* Finds what has the functions of `unit`. */
static void find_code(struct elf_units *units, struct elf_unit *unit)
{
    Dwarf_Die split;
    uint8_t type;
    const char *name = text_of(&unit->die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    unit->code = unit->die;
    if (!name)
        return;
    if (is_safe(units, &unit->die, name) &&
        dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.cu) {
        unit->code = split;
        return;
    }
    units->missing = units->missing ? units->missing : strdup(name);
    units->missing_count++;
}

/* --- functions --- */

/* Functions of classes that are local to a function, such as those of lambdas, are inside its
 * entry. These are many entries, so they are only read for an address that no other function has.
 */
enum unit_read { READ_NOTHING, READ_OUTSIDE, READ_INSIDE };

/* What functions are defined in. */
static bool is_scope(int tag, enum unit_read what)
{
    if (what == READ_INSIDE && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block))
        return true;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* False without memory. */
static bool read_functions(struct elf_ranges *functions, Dwarf_Die *scope, enum unit_read what,
                           int depth)
{
    Dwarf_Die child;
    int more = dwarf_child(scope, &child);
    for (; more == 0; more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram && !add_ranges(functions, &child, dwarf_dieoffset(&child)))
            return false;
        if (is_scope(tag, what) && depth < DEEPEST &&
            !read_functions(functions, &child, what, depth + 1))
            return false;
    }
    return true;
}

bool elf_unit_function(struct elf_units *units, struct elf_unit *unit, uint64_t address,
                       Dwarf_Die *ret)
{
    const struct elf_range *range = find(&unit->functions, address - units->bias);
    while (!range && unit->read < READ_INSIDE) {
        if (unit->read == READ_NOTHING)
            find_code(units, unit);
        unit->functions.length = 0;
        unit->read++; /* without memory there are fewer functions */
        read_functions(&unit->functions, &unit->code, (enum unit_read)unit->read, 0);
        sort(&unit->functions);
        range = find(&unit->functions, address - units->bias);
    }
    return range && dwarf_offdie(dwarf_cu_getdwarf(unit->code.cu), range->item, ret);
}
