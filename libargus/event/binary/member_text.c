/* Names what an offset in a variable, or behind pointers, is.
 *
 * At each struct the member is taken that has the bytes; base classes and anonymous members add no
 * name. Of a union, the member that fits exactly comes first. Between pointers only pointers fit.
 * If an offset leads to no member (container_of(), a class derived from the pointer's), the rest is
 * given by numbers, because another name would be wrong.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/event.h"
#include "event/binary/dwarf_type.h"
#include "event/binary/dwarf_variable.h"
#include "event/binary/elf_members.h"
#include "event/binary/elf_private.h"
#include "event/names/demangle.h"

enum { NESTED_MOST = 32, POINTER_BYTES = 8 };

struct writer {
    char *text;
    size_t bytes, length;
    bool is_behind_pointer; /* the next name follows "->" */
    bool has_names;
};

/* The bytes to be named, in the struct at hand. */
struct wanted {
    uint64_t offset, bits;
    uint32_t bytes;
    bool is_pointer; /* that the path goes through */
    bool is_exact;   /* only what begins and ends there */
};

/* Where the naming ended. */
struct leaf {
    Dwarf_Die type;
    uint64_t skipped;
    bool is_bit_field;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
                                                      ...)
{
    va_list values;
    va_start(values, format);
    int more =
        vsnprintf(writer->text + writer->length, writer->bytes - writer->length, format, values);
    va_end(values);
    writer->length += more > 0 ? (size_t)more : 0;
    if (writer->length >= writer->bytes)
        writer->length = writer->bytes - 1;
}

static void put_name(struct writer *writer, const char *name)
{
    put(writer, "%s%s", writer->is_behind_pointer ? "->" : ".", name);
    writer->is_behind_pointer = false;
    writer->has_names = true;
}

/* --- one variable or what one pointer leads to --- */

static bool name_inside(struct writer *writer, Dwarf_Die *type, struct wanted wanted, int depth,
                        struct leaf *ret);

static uint64_t mask_of(uint64_t bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Whether the bits that matter are of the bit-field. */
static bool has_bits(const struct dwarf_part *part, const struct wanted *wanted)
{
    uint64_t first = wanted->offset * 8, all = mask_of(8 * (uint64_t)wanted->bytes);
    uint64_t bits = wanted->bits ? wanted->bits : all, field = mask_of(part->bits);
    if (part->bit + part->bits <= first || part->bit >= first + 64)
        return false;
    field = part->bit >= first ? field << (part->bit - first) : field >> (first - part->bit);
    return wanted->is_exact ? !(bits & ~field) : bits & field;
}

static bool name_part(struct writer *writer, struct dwarf_part *part, struct wanted wanted,
                      int depth, struct leaf *ret)
{
    struct writer before = *writer;
    if (part->bits) {
        if (wanted.is_pointer || !part->name || !has_bits(part, &wanted))
            return false;
        put_name(writer, part->name);
        *ret = (struct leaf){part->type, wanted.offset - part->offset, true};
        return true;
    }
    if (wanted.offset < part->offset ||
        (part->bytes && wanted.offset - part->offset >= part->bytes))
        return false;
    wanted.offset -= part->offset;
    if (part->name)
        put_name(writer, part->name);
    if (name_inside(writer, &part->type, wanted, depth + 1, ret))
        return true;
    *writer = before;
    writer->text[writer->length] = '\0';
    return false;
}

static bool name_in_array(struct writer *writer, Dwarf_Die *type, struct wanted wanted, int depth,
                          struct leaf *ret)
{
    uint64_t strides[DWARF_DIMENSIONS];
    unsigned count = dwarf_array_strides(type, strides);
    Dwarf_Die element;
    for (unsigned i = 0; i < count; i++) {
        put(writer, "[%" PRIu64 "]", wanted.offset / strides[i]);
        wanted.offset %= strides[i];
    }
    return count && dwarf_type_of(type, &element) &&
           name_inside(writer, &element, wanted, depth + 1, ret);
}

static bool name_inside(struct writer *writer, Dwarf_Die *type, struct wanted wanted, int depth,
                        struct leaf *ret)
{
    struct dwarf_parts parts = {.type = *type};
    struct dwarf_part part;
    uint64_t bytes = dwarf_type_bytes(type);
    if (depth == NESTED_MOST)
        return false;
    if (dwarf_type_is_array(type))
        return name_in_array(writer, type, wanted, depth, ret);
    if (!dwarf_type_is_struct(type)) {
        *ret = (struct leaf){*type, wanted.offset, false};
        bool fits = wanted.offset == 0 && bytes == wanted.bytes;
        return wanted.is_pointer ? fits && dwarf_type_is_pointer(type)
                                 : fits || (!wanted.is_exact && wanted.offset < bytes);
    }
    while (dwarf_parts_next(&parts, &part))
        if (name_part(writer, &part, wanted, depth, ret))
            return true;
    return false;
}

/* Exactly fitting members first. */
static bool name_in_type(struct writer *writer, Dwarf_Die *type, struct wanted wanted,
                         struct leaf *ret)
{
    struct writer before = *writer;
    wanted.is_exact = true;
    if (name_inside(writer, type, wanted, 0, ret))
        return true;
    *writer = before;
    writer->text[writer->length] = '\0';
    wanted.is_exact = false;
    return name_inside(writer, type, wanted, 0, ret);
}

/* --- the whole path --- */

/* A pointer to numbers or pointers may lead to an array of them; one to a struct rarely does, and
 * what is behind that struct is mostly a derived class's. */
static bool name_element(struct writer *writer, Dwarf_Die *type, struct wanted *wanted)
{
    uint64_t bytes = dwarf_type_bytes(type);
    if (dwarf_type_is_struct(type) || dwarf_type_is_array(type) || !bytes)
        return true;
    put(writer, "[%" PRIu64 "]", wanted->offset / bytes);
    wanted->offset %= bytes;
    writer->is_behind_pointer = false;
    writer->has_names = true;
    return true;
}

static bool name_behind(struct writer *writer, Dwarf_Die *pointer, struct wanted wanted,
                        struct leaf *ret)
{
    Dwarf_Die type;
    struct writer before = *writer;
    writer->is_behind_pointer = true;
    if (dwarf_type_of(pointer, &type) && name_element(writer, &type, &wanted) &&
        name_in_type(writer, &type, wanted, ret))
        return true;
    *writer = before;
    writer->text[writer->length] = '\0';
    return false;
}

static struct wanted wanted_at(const struct elf_reach *reach, uint32_t links, int64_t offset)
{
    bool is_last = links == reach->links;
    return (struct wanted){.offset = (uint64_t)offset,
                           .bytes = is_last ? reach->size_bytes : POINTER_BYTES,
                           .bits = is_last ? reach->bits : 0,
                           .is_pointer = !is_last};
}

static void put_numbers(struct writer *writer, const struct elf_reach *reach, uint32_t from)
{
    for (uint32_t i = from; i < reach->links; i++)
        put(writer, "->%s0x%" PRIx64, reach->offsets[i] < 0 ? "-" : "",
            (uint64_t)(reach->offsets[i] < 0 ? -reach->offsets[i] : reach->offsets[i]));
}

/* The text begins with the variable's name; `type` is its type, or, with `is_value`, that of the
 * pointer to begin with. */
static bool name_path(struct writer *writer, Dwarf_Die *type, uint64_t offset, bool is_value,
                      const struct elf_reach *reach, struct elf_member *ret)
{
    struct leaf leaf = {.type = *type};
    uint32_t next = 0;
    bool is_named = (is_value && dwarf_type_is_pointer(type)) ||
                    name_in_type(writer, type, wanted_at(reach, 0, (int64_t)offset), &leaf);
    if (!is_named)
        return false;
    for (; next < reach->links; next++)
        if (reach->offsets[next] < 0 ||
            !name_behind(writer, &leaf.type, wanted_at(reach, next + 1, reach->offsets[next]),
                         &leaf))
            break;
    put_numbers(writer, reach, next);
    ret->skipped_bytes = next == reach->links ? (uint32_t)leaf.skipped : 0;
    ret->is_bit_field = next == reach->links && leaf.is_bit_field;
    return writer->has_names;
}

/* --- roots --- */

/* "optarg@GLIBC_2.2.5" is the copy of a library's variable, which is called optarg. */
static void put_symbol(struct writer *writer, const char *symbol)
{
    char name[400];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(symbol, "@"), symbol);
    char *readable = demangle(name);
    put(writer, "%s", readable ? readable : name);
    free(readable);
}

static Dwarf_Die *unit_of(struct elf_units *units, uint64_t code)
{
    struct elf_unit *unit = code ? elf_units_find(units, code) : NULL;
    return unit ? &unit->die : NULL;
}

bool elf_member_text(struct elf_file *file, const struct elf_member_root *root,
                     const struct elf_reach *reach, struct elf_member *ret)
{
    struct elf_units *units = elf_file_units(file);
    struct writer writer = {.text = ret->text, .bytes = sizeof(ret->text)};
    struct elf_variable variable;
    Dwarf_Die die, type;
    *ret = (struct elf_member){.skipped_bytes = 0};
    if (!units || !units->dwarf ||
        !elf_file_variable_at(file, root->address, root->is_thread_local, &variable))
        return false;
    uint64_t start = root->address - variable.offset;
    struct dwarf_wanted wanted = {.address = root->is_thread_local ? start : start - units->bias,
                                  .is_thread_local = root->is_thread_local,
                                  .symbol = variable.name};
    put_symbol(&writer, variable.name);
    ret->name_bytes = (uint32_t)writer.length;
    return dwarf_variable_find(units->dwarf, unit_of(units, root->code), &wanted, &die) &&
           dwarf_type_of(&die, &type) &&
           name_path(&writer, &type, variable.offset, false, reach, ret);
}

/* --- local variables --- */

static bool find_frame(struct elf_file *file, const struct elf_local_root *root, uint64_t *ret)
{
    for (int which = 0; which < 2; which++) {
        uint64_t bias;
        Dwarf_CFI *cfi = elf_file_cfi(file, which, &bias);
        Dwarf_Frame *frame = NULL;
        Dwarf_Op *ops;
        size_t count = 0;
        bool is_known = cfi && dwarf_cfi_addrframe(cfi, root->code - bias, &frame) == 0 &&
                        dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1;
        bool is_x = is_known && ops[0].atom == DW_OP_bregx;
        is_known =
            is_known && (is_x || (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)) &&
            root->read(root->context,
                       is_x ? (unsigned)ops[0].number : (unsigned)ops[0].atom - DW_OP_breg0, ret);
        if (is_known)
            *ret += is_x ? ops[0].number2 : ops[0].number;
        free(frame);
        if (is_known)
            return true;
    }
    return false;
}

/* Whether the root is in the variable, and how far behind its beginning. */
static bool is_root(struct elf_file *file, const struct elf_local_root *root, Dwarf_Die *type,
                    const struct dwarf_local *where, uint64_t *ret_offset)
{
    uint64_t base;
    *ret_offset = 0;
    if (where->is_in_register)
        return root->number == where->number &&
               (dwarf_type_is_pointer(type) || dwarf_type_bytes(type) == POINTER_BYTES);
    if (root->number != ARGUS_NONE ||
        !(where->is_of_frame ? find_frame(file, root, &base)
                             : root->read(root->context, where->number, &base)))
        return false;
    *ret_offset = root->address - (base + (uint64_t)where->offset);
    return *ret_offset < dwarf_type_bytes(type);
}

bool elf_member_local_text(struct elf_file *file, const struct elf_local_root *root,
                           const struct elf_reach *reach, struct elf_member *ret)
{
    struct elf_units *units = elf_file_units(file);
    struct elf_unit *unit = units && units->dwarf ? elf_units_find(units, root->code) : NULL;
    Dwarf_Die function, die, type;
    struct dwarf_local where;
    if (!unit || !elf_unit_function(units, unit, root->code, &function))
        return false;
    uint64_t pc = root->code - units->bias, offset;
    for (uint32_t i = 0; dwarf_local_at(&function, pc, i, &die, &where); i++) {
        struct writer writer = {.text = ret->text, .bytes = sizeof(ret->text), .has_names = true};
        const char *name = dwarf_diename(&die);
        if (!name || !dwarf_type_of(&die, &type) || !is_root(file, root, &type, &where, &offset))
            continue;
        *ret = (struct elf_member){.skipped_bytes = 0};
        put(&writer, "%s", name);
        ret->name_bytes = (uint32_t)writer.length;
        if (name_path(&writer, &type, offset, where.is_in_register, reach, ret))
            return true;
    }
    return false;
}
