#include "event/binary/elf_units.h"

#include <dwarf.h>
#include <stdlib.h>

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
    free(units);
}

struct elf_unit *elf_units_find(struct elf_units *units, uint64_t address)
{
    const struct elf_range *range = find(&units->ranges, address - units->bias);
    return range ? &units->units.data[range->item] : NULL;
}

/* --- functions --- */

/* Functions of classes that are local to a function, such as those of lambdas, are inside its entry.
 * These are many entries, so they are only read for an address that no other function has. */
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
        unit->functions.length = 0;
        unit->read++; /* without memory there are fewer functions */
        read_functions(&unit->functions, &unit->die, (enum unit_read)unit->read, 0);
        sort(&unit->functions);
        range = find(&unit->functions, address - units->bias);
    }
    return range && dwarf_offdie(units->dwarf, range->item, ret);
}
