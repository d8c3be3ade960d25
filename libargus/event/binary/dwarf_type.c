#include "event/binary/dwarf_type.h"

#include <dwarf.h>
#include <string.h>

/* Entries that a search for the definition of a declared type looks at. */
enum { LOOK_AT_MOST = 1000000, NAMES_DEEPEST = 64, SCOPES_DEEPEST = 16 };

static bool number_of(Dwarf_Die *die, unsigned attribute, uint64_t *ret)
{
    Dwarf_Attribute found;
    Dwarf_Word number;
    if (!dwarf_attr_integrate(die, attribute, &found) || dwarf_formudata(&found, &number))
        return false;
    *ret = number;
    return true;
}

static bool has_flag(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    bool value = false;
    return dwarf_attr(die, attribute, &found) && dwarf_formflag(&found, &value) == 0 && value;
}

/* --- types that are only declared --- */

struct definition {
    const char *name;
    int tag;
    uint32_t looked_at;
    Dwarf_Die found;
    uint64_t bytes, line;
    uint32_t count; /* of different ones */
};

static void offer_definition(struct definition *search, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    uint64_t bytes = 0, line = 0;
    if (!name || strcmp(name, search->name) != 0 || has_flag(die, DW_AT_declaration))
        return;
    number_of(die, DW_AT_byte_size, &bytes);
    number_of(die, DW_AT_decl_line, &line);
    if (search->count && search->bytes == bytes && search->line == line)
        return;
    search->found = *die;
    search->bytes = bytes;
    search->line = line;
    search->count++;
}

static void search_scope(struct definition *search, Dwarf_Die *scope, int depth)
{
    Dwarf_Die child;
    int more = dwarf_child(scope, &child);
    for (; more == 0 && search->looked_at++ < LOOK_AT_MOST;
         more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if (tag == search->tag)
            offer_definition(search, &child);
        if (tag == DW_TAG_namespace && depth < SCOPES_DEEPEST)
            search_scope(search, &child, depth + 1);
    }
}

/* Two different types of that name: neither is taken. */
static bool find_definition(Dwarf_Die *declared, Dwarf_Die *ret)
{
    struct definition search = {.name = dwarf_diename(declared), .tag = dwarf_tag(declared)};
    Dwarf *dwarf = dwarf_cu_getdwarf(declared->cu);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    if (!search.name)
        return false;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        search_scope(&search, &die, 0);
    *ret = search.found;
    return search.count == 1 && search.looked_at < LOOK_AT_MOST;
}

/* --- types --- */

static bool is_other_name(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_atomic_type || tag == DW_TAG_restrict_type || tag == DW_TAG_shared_type ||
           tag == DW_TAG_packed_type || tag == DW_TAG_immutable_type ||
           tag == DW_TAG_template_alias;
}

static bool follow(Dwarf_Die *die, unsigned attribute, Dwarf_Die *ret)
{
    Dwarf_Attribute found;
    return dwarf_attr_integrate(die, attribute, &found) && dwarf_formref_die(&found, ret);
}

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Die at = *die, next;
    for (int i = 0; i < NAMES_DEEPEST; i++, at = next) {
        if (!follow(&at, DW_AT_type, &next))
            return false;
        if (is_other_name(dwarf_tag(&next)))
            continue;
        *ret = next;
        if (!dwarf_type_is_struct(&next) || follow(&next, DW_AT_signature, ret))
            return true;
        return !has_flag(&next, DW_AT_declaration) || find_definition(&next, ret);
    }
    return false;
}

bool dwarf_type_is_pointer(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

bool dwarf_type_is_struct(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool dwarf_type_is_array(Dwarf_Die *type)
{
    return dwarf_tag(type) == DW_TAG_array_type;
}

/* --- arrays --- */

static uint64_t count_of(Dwarf_Die *range)
{
    uint64_t count = 0;
    if (number_of(range, DW_AT_count, &count))
        return count;
    return number_of(range, DW_AT_upper_bound, &count) ? count + 1 : 0;
}

/* The sizes of the dimensions, the outermost first, 0 for one that is not known. Returns their
 * number; 0: not known, or more. */
static unsigned dimensions(Dwarf_Die *array, uint64_t ret[DWARF_DIMENSIONS])
{
    Dwarf_Die range;
    unsigned count = 0;
    int more = dwarf_child(array, &range);
    for (; more == 0 && count < DWARF_DIMENSIONS; more = dwarf_siblingof(&range, &range))
        if (dwarf_tag(&range) == DW_TAG_subrange_type)
            ret[count++] = count_of(&range);
    return more == 0 ? 0 : count;
}

/* libdw does not know the size of an array whose elements are described in a type unit. */
uint64_t dwarf_type_bytes(Dwarf_Die *type)
{
    Dwarf_Word bytes;
    Dwarf_Die element;
    uint64_t counts[DWARF_DIMENSIONS];
    if (dwarf_aggregate_size(type, &bytes) == 0)
        return bytes;
    if (!dwarf_type_is_array(type) || !dwarf_type_of(type, &element))
        return dwarf_type_is_pointer(type) ? 8 : 0;
    unsigned count = dimensions(type, counts);
    bytes = count && !dwarf_type_is_array(&element) ? dwarf_type_bytes(&element) : 0;
    for (unsigned i = 0; i < count; i++)
        bytes *= counts[i];
    return bytes;
}

unsigned dwarf_array_strides(Dwarf_Die *array, uint64_t ret[DWARF_DIMENSIONS])
{
    Dwarf_Die element;
    uint64_t counts[DWARF_DIMENSIONS], bytes;
    unsigned count = dimensions(array, counts);
    if (!count || !dwarf_type_of(array, &element) || !(bytes = dwarf_type_bytes(&element)))
        return 0;
    for (unsigned i = count; i-- > 0; bytes *= counts[i])
        ret[i] = bytes;
    return ret[0] ? count : 0;
}

/* --- members --- */

/* A bit-field of DWARF 3 counts its bits from the highest one of a word. */
static void take_bits(Dwarf_Die *member, struct dwarf_part *part)
{
    uint64_t from_top, word = part->bytes;
    if (!number_of(member, DW_AT_bit_size, &part->bits) || !part->bits)
        return;
    if (!number_of(member, DW_AT_data_bit_offset, &part->bit)) {
        number_of(member, DW_AT_byte_size, &word);
        part->bit = part->offset * 8;
        if (number_of(member, DW_AT_bit_offset, &from_top) && word * 8 >= from_top + part->bits)
            part->bit += word * 8 - from_top - part->bits;
    }
    part->offset = part->bit / 8;
    part->bytes = (part->bit + part->bits + 7) / 8 - part->offset;
}

/* A virtual base class has no fixed offset. */
static bool take_offset(Dwarf_Die *member, struct dwarf_part *part)
{
    Dwarf_Attribute found;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(member, DW_AT_data_member_location, &found) ||
        number_of(member, DW_AT_data_member_location, &part->offset))
        return true;
    if (dwarf_getlocation(&found, &ops, &count) || count != 1 || ops[0].atom != DW_OP_plus_uconst)
        return false;
    part->offset = ops[0].number;
    return true;
}

static bool take_part(Dwarf_Die *die, struct dwarf_part *ret)
{
    int tag = dwarf_tag(die);
    *ret = (struct dwarf_part){.name = tag == DW_TAG_member ? dwarf_diename(die) : NULL};
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || has_flag(die, DW_AT_external) ||
        has_flag(die, DW_AT_declaration) || !take_offset(die, ret) ||
        !dwarf_type_of(die, &ret->type))
        return false;
    ret->bytes = dwarf_type_bytes(&ret->type);
    take_bits(die, ret);
    return true;
}

bool dwarf_parts_next(struct dwarf_parts *parts, struct dwarf_part *ret)
{
    do {
        int more = parts->is_started ? dwarf_siblingof(&parts->child, &parts->child)
                                     : dwarf_child(&parts->type, &parts->child);
        parts->is_started = true;
        if (more != 0)
            return false;
    } while (!take_part(&parts->child, ret));
    return true;
}
