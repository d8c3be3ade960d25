#include "event/binary/dwarf_variable.h"

#include <dwarf.h>
#include <string.h>

/* Entries that a search looks at: a second's worth. */
enum { LOOK_AT_MOST = 2000000, SCOPES_DEEPEST = 32 };

/* --- where a variable is --- */

static bool is_thread_offset(unsigned atom)
{
    return atom == DW_OP_const8u || atom == DW_OP_const4u || atom == DW_OP_const8s ||
           atom == DW_OP_const4s || atom == DW_OP_constu || atom == DW_OP_addr;
}

static bool is_thread_address(unsigned atom)
{
    return atom == DW_OP_GNU_push_tls_address || atom == DW_OP_form_tls_address;
}

static bool first_address(Dwarf_Attribute *location, Dwarf_Op *op, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address;
    *ret = op->number;
    if (op->atom == DW_OP_addr)
        return true;
    if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) ||
        dwarf_getlocation_attr(location, op, &attribute) || dwarf_formaddr(&attribute, &address))
        return false;
    *ret = address;
    return true;
}

static bool is_at(Dwarf_Die *die, const struct dwarf_wanted *wanted)
{
    Dwarf_Attribute location;
    Dwarf_Op *ops;
    size_t count;
    uint64_t address;
    if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &ops, &count) ||
        !count)
        return false;
    if (wanted->is_thread_local)
        return count == 2 && is_thread_offset(ops[0].atom) && is_thread_address(ops[1].atom) &&
               ops[0].number == wanted->address;
    if (!first_address(&location, &ops[0], &address))
        return false;
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
        address += ops[1].number;
    return count <= 2 && address == wanted->address;
}

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dwarf_attr_integrate(die, attribute, &found) ? dwarf_formstring(&found) : NULL;
}

/* "extern struct app *app;": a unit that uses a variable of another unit says its type. */
static bool is_declared(Dwarf_Die *die, const struct dwarf_wanted *wanted)
{
    Dwarf_Attribute found;
    if (!wanted->symbol || !dwarf_attr(die, DW_AT_external, &found) ||
        dwarf_attr(die, DW_AT_location, &found))
        return false;
    const char *name = text_of(die, DW_AT_linkage_name);
    name = name ? name : text_of(die, DW_AT_name);
    size_t length = strcspn(wanted->symbol, "@");
    return name && strlen(name) == length && strncmp(name, wanted->symbol, length) == 0;
}

/* --- global variables --- */

struct search {
    const struct dwarf_wanted *wanted;
    bool into_functions, with_declared;
    uint32_t looked_at;
    Dwarf_Die *ret;
};

static bool is_scope(const struct search *search, int tag)
{
    if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
        return search->into_functions;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type;
}

static bool search_scope(struct search *search, Dwarf_Die *scope, int depth)
{
    Dwarf_Die child;
    int more = dwarf_child(scope, &child);
    for (; more == 0 && search->looked_at++ < LOOK_AT_MOST;
         more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable &&
            (is_at(&child, search->wanted) ||
             (search->with_declared && is_declared(&child, search->wanted)))) {
            *search->ret = child;
            return true;
        }
        if (is_scope(search, tag) && depth < SCOPES_DEEPEST &&
            search_scope(search, &child, depth + 1))
            return true;
    }
    return false;
}

static bool search_units(Dwarf *dwarf, struct search *search)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    search->looked_at = 0;
    while (search->looked_at < LOOK_AT_MOST &&
           dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        if (search_scope(search, &die, 0))
            return true;
    return false;
}

/* The definition first: a declaration may lack the length of an array. */
bool dwarf_variable_find(Dwarf *dwarf, Dwarf_Die *unit, const struct dwarf_wanted *wanted,
                         Dwarf_Die *ret)
{
    struct search search = {.wanted = wanted, .into_functions = true, .ret = ret};
    if (unit && search_scope(&search, unit, 0))
        return true;
    search = (struct search){.wanted = wanted, .with_declared = true, .ret = ret};
    if (unit && search_scope(&search, unit, 0))
        return true;
    search.with_declared = false;
    if (search_units(dwarf, &search))
        return true;
    search.into_functions = true;
    return search_units(dwarf, &search);
}

/* --- local variables --- */

static bool is_one_register(const Dwarf_Op *op, uint8_t *ret)
{
    *ret = op->atom == DW_OP_regx ? (uint8_t)op->number : (uint8_t)(op->atom - DW_OP_reg0);
    return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

static bool is_behind_register(const Dwarf_Op *op, struct dwarf_local *ret)
{
    bool is_x = op->atom == DW_OP_bregx;
    if (!is_x && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
        return false;
    ret->number = is_x ? (uint8_t)op->number : (uint8_t)(op->atom - DW_OP_breg0);
    ret->offset = (int64_t)(is_x ? op->number2 : op->number);
    return true;
}

static bool take_frame(Dwarf_Die *function, uint64_t pc, struct dwarf_local *ret)
{
    Dwarf_Attribute base;
    Dwarf_Op *ops;
    size_t count;
    struct dwarf_local at = {0};
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &base) ||
        dwarf_getlocation_addr(&base, pc, &ops, &count, 1) != 1 || count != 1)
        return false;
    ret->is_of_frame = ops[0].atom == DW_OP_call_frame_cfa;
    if (ret->is_of_frame || is_one_register(&ops[0], &ret->number))
        return true;
    if (!is_behind_register(&ops[0], &at))
        return false;
    ret->number = at.number;
    ret->offset += at.offset;
    return true;
}

static bool find_location(Dwarf_Die *function, Dwarf_Die *die, uint64_t pc, struct dwarf_local *ret)
{
    Dwarf_Attribute location;
    Dwarf_Op *ops;
    size_t count;
    *ret = (struct dwarf_local){0};
    if (!dwarf_attr(die, DW_AT_location, &location) ||
        dwarf_getlocation_addr(&location, pc, &ops, &count, 1) != 1 || count != 1)
        return false;
    ret->is_in_register = is_one_register(&ops[0], &ret->number);
    if (ret->is_in_register || is_behind_register(&ops[0], ret))
        return true;
    ret->offset = (int64_t)ops[0].number;
    return ops[0].atom == DW_OP_fbreg && take_frame(function, pc, ret);
}

/* The entry inside `die` that has the code at `pc`. */
static bool find_inside(Dwarf_Die *die, uint64_t pc, Dwarf_Die *ret)
{
    int more = dwarf_child(die, ret);
    for (; more == 0; more = dwarf_siblingof(ret, ret)) {
        int tag = dwarf_tag(ret);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(ret, pc) > 0)
            return true;
    }
    return false;
}

bool dwarf_local_at(Dwarf_Die *function, uint64_t pc, uint32_t index, Dwarf_Die *ret,
                    struct dwarf_local *ret_where)
{
    Dwarf_Die blocks[SCOPES_DEEPEST];
    int depth = 0;
    for (blocks[0] = *function;
         depth + 1 < SCOPES_DEEPEST && find_inside(&blocks[depth], pc, &blocks[depth + 1]);)
        depth++;
    for (; depth >= 0; depth--) {
        int more = dwarf_child(&blocks[depth], ret);
        for (; more == 0; more = dwarf_siblingof(ret, ret)) {
            int tag = dwarf_tag(ret);
            if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
                find_location(function, ret, pc, ret_where) && index-- == 0)
                return true;
        }
    }
    return false;
}
