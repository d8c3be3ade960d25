/* The layout is that of Go's runtime/symtab.go and internal/abi/symtab.go (older versions:
 * elf_go_module.c):
 *
 *   header     magic (4), 0, 0, size of the smallest instruction, size of a pointer; then 8 bytes
 *              each: functions, files, unused; offsets of names, units, files, values, functions
 *   functions  (offset of its code from `text`, offset of its description from here), sorted; the
 *              first number once more for the end of the last one
 *   values     for a function and a kind of value, one number for each range of its code: pairs of
 *              varints, the difference to the number before and the length of the range
 */
#include "event/binary/elf_go.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "event/binary/elf_go_module.h"

enum { HEADER_FUNCTIONS = 8, HEADER_ROWS = 16, POINTER = 8 };

enum { VALUE_INLINED = 2 }; /* PCDATA_InlTreeIndex */

struct elf_go {
    const struct elf_file *file; /* borrowed */
    struct elf_go_module module;
    const struct elf_go_layout *layout;
    uint32_t row_bytes; /* of the list of functions */
    uint64_t functions_count;
    uint64_t names, units, files, values, functions; /* offsets in the table */
    uint32_t smallest;                               /* bytes of the smallest instruction */
};

struct function {
    uint64_t start, end;  /* addresses */
    uint64_t description; /* offset in the table */
};

/* --- reading --- */

/* Reads the beginning of the table before Go 1.16. The list of functions is followed by its end's
 * address, then by the offset of the files. */
static bool read_old_header(struct elf_go *go)
{
    uint32_t files;
    struct elf_view table = go->module.table;
    if (go->functions_count > table.bytes / go->row_bytes ||
        !elf_view_u32(table, HEADER_ROWS + go->functions_count * go->row_bytes + POINTER, &files))
        return false;
    go->functions = HEADER_ROWS;
    go->files = files;
    return true;
}

static bool read_offsets(struct elf_go *go)
{
    uint64_t *const offsets[] = {&go->names, &go->units, &go->files, &go->values, &go->functions};
    struct elf_view table = go->module.table;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
        if (!elf_view_u64(table, go->layout->header_offsets + i * POINTER, offsets[i]) ||
            *offsets[i] > table.bytes)
            return false;
    return true;
}

static bool read_header(struct elf_go *go)
{
    struct elf_view table = go->module.table;
    go->layout = go->module.layout;
    go->row_bytes = go->layout->has_addresses ? 2 * POINTER : POINTER;
    if (!elf_view_u64(table, HEADER_FUNCTIONS, &go->functions_count) || table.data[7] != POINTER)
        return false;
    go->smallest = table.data[6];
    return (go->layout->header_offsets ? read_offsets(go) : read_old_header(go)) &&
           go->functions_count < (table.bytes - go->functions) / go->row_bytes;
}

struct elf_go *elf_go_create(const struct elf_file *file)
{
    struct elf_go *go = calloc(1, sizeof(*go));
    if (go)
        go->file = file;
    if (go && elf_go_module_find(file, &go->module) && read_header(go))
        return go;
    free(go);
    return NULL;
}

void elf_go_destroy(struct elf_go *go)
{
    free(go);
}

/* NULL: it does not end. */
static const char *text_at(const struct elf_go *go, uint64_t offset)
{
    struct elf_view table = go->module.table;
    if (offset >= table.bytes || !memchr(table.data + offset, 0, table.bytes - offset))
        return NULL;
    return (const char *)table.data + offset;
}

/* A number of a function's description. */
static bool number_of(const struct elf_go *go, const struct function *function, uint64_t offset,
                      uint32_t *ret)
{
    return elf_view_u32(go->module.table, function->description + offset, ret);
}

/* One of the two numbers of a row of the list of functions; 0: there is none. */
static uint64_t row_number(const struct elf_go *go, uint64_t index, bool is_second)
{
    uint64_t wide = 0, at = go->functions + index * go->row_bytes + is_second * go->row_bytes / 2;
    uint32_t number = 0;
    if (go->layout->has_addresses)
        elf_view_u64(go->module.table, at, &wide);
    else
        elf_view_u32(go->module.table, at, &number);
    return wide + number;
}

static bool find_function(const struct elf_go *go, uint64_t address, struct function *ret)
{
    uint64_t offset = address - go->module.text; /* addresses count from 0 */
    size_t behind, count = go->functions_count;
    LOWER_BOUND(behind, count, row_number(go, behind, false) <= offset);
    if (!behind || offset >= row_number(go, behind, false))
        return false;
    uint64_t from = go->layout->header_offsets ? go->functions : 0;
    *ret = (struct function){
        .start = go->module.text + row_number(go, behind - 1, false),
        .end = go->module.text + row_number(go, behind, false),
        .description = from + row_number(go, behind - 1, true),
    };
    return ret->description < go->module.table.bytes;
}

/* --- values of ranges of code --- */

static bool take_varint(struct elf_view view, uint64_t *at, uint32_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 32 && *at < view.bytes; shift += 7) {
        uint8_t byte = view.data[(*at)++];
        *ret |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The value at `address`, of the list at `offset`. -1: none. */
static int32_t value_at(const struct elf_go *go, const struct function *function, uint32_t offset,
                        uint64_t address)
{
    uint64_t at = go->values + offset, until = function->start;
    uint32_t value = UINT32_MAX, difference, length;
    bool is_first = true;
    while (offset && take_varint(go->module.table, &at, &difference) && (difference || is_first) &&
           take_varint(go->module.table, &at, &length)) {
        value += difference >> 1 ^ (0u - (difference & 1));
        until += (uint64_t)length * go->smallest;
        is_first = false;
        if (address < until)
            return (int32_t)value;
    }
    return -1;
}

/* --- places --- */

static const char *source_at(const struct elf_go *go, const struct function *function,
                             uint64_t address, uint32_t *ret_line)
{
    uint32_t files, lines, unit = 0, offset;
    if (!number_of(go, function, go->layout->files, &files) ||
        !number_of(go, function, go->layout->lines, &lines) ||
        (go->layout->unit && !number_of(go, function, go->layout->unit, &unit)))
        return NULL;
    int32_t file = value_at(go, function, files, address);
    int32_t line = value_at(go, function, lines, address);
    /* without units, the list of files has offsets of names in the table */
    uint64_t list = go->layout->unit ? go->units : go->files;
    if (file < 0 ||
        !elf_view_u32(go->module.table, list + ((uint64_t)unit + (uint32_t)file) * sizeof(offset),
                      &offset))
        return NULL;
    *ret_line = line > 0 ? (uint32_t)line : 0;
    return text_at(go, (go->layout->unit ? go->files : 0) + offset);
}

const char *elf_go_function(const struct elf_go *go, uint64_t address, uint64_t *ret_start)
{
    struct function function;
    uint32_t name;
    if (!find_function(go, address, &function) ||
        !number_of(go, &function, go->layout->name, &name))
        return NULL;
    *ret_start = function.start;
    return text_at(go, go->names + name);
}

bool elf_go_range(const struct elf_go *go, uint64_t address, uint64_t *ret_start,
                  uint64_t *ret_bytes)
{
    struct function function;
    if (!find_function(go, address, &function))
        return false;
    *ret_start = function.start;
    *ret_bytes = function.end - function.start;
    return true;
}

bool elf_go_has_registers(const struct elf_go *go)
{
    return !go->layout->has_addresses;
}

/* The list for the stack pointer is the one before that of files. */
bool elf_go_stack_bytes(const struct elf_go *go, uint64_t address, uint32_t *ret)
{
    struct function function;
    uint32_t list;
    if (!find_function(go, address, &function) ||
        !number_of(go, &function, go->layout->files - sizeof(list), &list))
        return false;
    int32_t bytes = value_at(go, &function, list, address);
    *ret = bytes >= 0 ? (uint32_t)bytes : 0;
    return bytes >= 0;
}

const char *elf_go_line(const struct elf_go *go, uint64_t address, uint32_t *ret_line)
{
    struct function function;
    return find_function(go, address, &function) ? source_at(go, &function, address, ret_line)
                                                 : NULL;
}

/* --- inlined functions --- */

/* The tables of a function: which one was inlined where, and their list. */
struct tree {
    uint32_t values;
    struct elf_view list;
};

/* The list of inlined functions: an offset from all lists, or an address. */
static bool find_list(const struct elf_go *go, const struct function *function, uint64_t data,
                      struct elf_view *ret)
{
    uint64_t at = function->description + data, address;
    uint32_t offset;
    if (go->layout->has_addresses) {
        at = (at + POINTER - 1) / POINTER * POINTER + (uint64_t)go->layout->data_inlined * POINTER;
        if (!elf_view_u64(go->module.table, at, &address) || !address)
            return false;
        *ret = elf_go_view_at(go->file, address);
        return ret->data != NULL;
    }
    *ret = go->module.trees;
    if (!elf_view_u32(go->module.table, at + (uint64_t)go->layout->data_inlined * 4, &offset) ||
        offset == UINT32_MAX || offset > ret->bytes)
        return false;
    ret->data += offset;
    ret->bytes -= offset;
    return true;
}

static bool tree_of(const struct elf_go *go, const struct function *function, struct tree *ret)
{
    uint64_t lists = go->layout->bytes, last = function->description + lists - 1;
    uint32_t value_lists;
    return go->module.has_trees && last < go->module.table.bytes &&
           number_of(go, function, go->layout->lists, &value_lists) &&
           value_lists > VALUE_INLINED && go->module.table.data[last] > go->layout->data_inlined &&
           number_of(go, function, lists + VALUE_INLINED * 4, &ret->values) &&
           find_list(go, function, lists + (uint64_t)value_lists * 4, &ret->list);
}

/* The name of entry `index`, and an address in the call that it replaced. NULL: there is none. */
static const char *inlined(const struct elf_go *go, const struct function *function,
                           const struct tree *tree, uint32_t index, uint64_t *ret_call)
{
    uint32_t name, call;
    uint64_t at = (uint64_t)index * go->layout->tree_bytes;
    if (!elf_view_u32(tree->list, at + go->layout->tree_name, &name) ||
        !elf_view_u32(tree->list, at + go->layout->tree_caller, &call))
        return NULL;
    *ret_call = function->start + call;
    return text_at(go, go->names + name);
}

size_t elf_go_inlines(const struct elf_go *go, uint64_t address,
                      struct elf_inline ret[ELF_INLINES_MAX])
{
    struct function function;
    struct tree tree;
    int32_t index;
    size_t count = 0;
    if (!find_function(go, address, &function) || !tree_of(go, &function, &tree))
        return 0;
    for (; count < ELF_INLINES_MAX && (index = value_at(go, &function, tree.values, address)) >= 0;
         count++) {
        struct elf_inline *entry = &ret[count];
        entry->function = inlined(go, &function, &tree, (uint32_t)index, &address);
        if (!entry->function)
            break;
        entry->line = 0;
        entry->source = source_at(go, &function, address, &entry->line);
    }
    return count;
}
