/* The layout is that of Go's runtime/symtab.go and internal/abi/symtab.go:
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

enum { HEADER_FUNCTIONS = 8, HEADER_NAMES = 32, POINTER = 8, ROW = 8 };

/* A description: numbers of 4 bytes; `FUNCTION_BYTES` is the length before its lists. */
enum {
    NUMBER_NAME = 4,
    NUMBER_FILES = 20,
    NUMBER_LINES = 24,
    NUMBER_LISTS = 28,
    NUMBER_UNIT = 32,
    FUNCTION_BYTES_OLD = 40,
    FUNCTION_BYTES = 44
};

enum { VALUE_INLINED = 2, DATA_INLINED = 3 }; /* PCDATA_InlTreeIndex, FUNCDATA_InlTree */

struct elf_go {
    struct elf_go_module module;
    uint64_t functions_count;
    uint64_t names, units, files, values, functions; /* offsets in the table */
    uint32_t smallest;                               /* bytes of the smallest instruction */
};

struct function {
    uint64_t start;       /* address */
    uint64_t description; /* offset in the table */
};

/* --- reading --- */

static bool read_header(struct elf_go *go)
{
    struct elf_view table = go->module.table;
    uint64_t *const offsets[] = {&go->names, &go->units, &go->files, &go->values, &go->functions};
    if (table.bytes < HEADER_NAMES || table.data[7] != POINTER ||
        !elf_view_u64(table, HEADER_FUNCTIONS, &go->functions_count))
        return false;
    go->smallest = table.data[6];
    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
        if (!elf_view_u64(table, HEADER_NAMES + i * POINTER, offsets[i]) ||
            *offsets[i] > table.bytes)
            return false;
    return go->functions_count < (table.bytes - go->functions) / ROW;
}

struct elf_go *elf_go_create(const struct elf_file *file)
{
    struct elf_go *go = calloc(1, sizeof(*go));
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

/* Row `index` of the list of functions; the code's offset. */
static uint32_t start_of(const struct elf_go *go, uint64_t index)
{
    uint32_t start = 0;
    elf_view_u32(go->module.table, go->functions + index * ROW, &start);
    return start;
}

static bool find_function(const struct elf_go *go, uint64_t address, struct function *ret)
{
    uint64_t offset = address - go->module.text;
    size_t behind, count = go->functions_count;
    uint32_t description;
    LOWER_BOUND(behind, count, start_of(go, behind) <= offset);
    if (!behind || offset >= start_of(go, behind) ||
        !elf_view_u32(go->module.table, go->functions + (behind - 1) * ROW + 4, &description))
        return false;
    *ret =
        (struct function){go->module.text + start_of(go, behind - 1), go->functions + description};
    return true;
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
    uint32_t files, lines, unit, offset;
    if (!number_of(go, function, NUMBER_FILES, &files) ||
        !number_of(go, function, NUMBER_LINES, &lines) ||
        !number_of(go, function, NUMBER_UNIT, &unit))
        return NULL;
    int32_t file = value_at(go, function, files, address);
    int32_t line = value_at(go, function, lines, address);
    if (file < 0 ||
        !elf_view_u32(go->module.table,
                      go->units + ((uint64_t)unit + (uint32_t)file) * sizeof(offset), &offset))
        return NULL;
    *ret_line = line > 0 ? (uint32_t)line : 0;
    return text_at(go, go->files + offset);
}

const char *elf_go_function(const struct elf_go *go, uint64_t address, uint64_t *ret_start)
{
    struct function function;
    uint32_t name;
    if (!find_function(go, address, &function) || !number_of(go, &function, NUMBER_NAME, &name))
        return NULL;
    *ret_start = function.start;
    return text_at(go, go->names + name);
}

bool elf_go_range(const struct elf_go *go, uint64_t address, uint64_t *ret_start,
                  uint64_t *ret_bytes)
{
    struct function function;
    size_t behind, count = go->functions_count;
    uint64_t offset = address - go->module.text;
    if (!find_function(go, address, &function))
        return false;
    LOWER_BOUND(behind, count, start_of(go, behind) <= offset);
    *ret_start = function.start;
    *ret_bytes = go->module.text + start_of(go, behind) - function.start;
    return true;
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
    uint32_t values, list;
};

static bool tree_of(const struct elf_go *go, const struct function *function, struct tree *ret)
{
    uint64_t lists = go->module.is_old ? FUNCTION_BYTES_OLD : FUNCTION_BYTES;
    uint64_t last = function->description + lists - 1;
    uint32_t value_lists;
    if (last >= go->module.table.bytes || !number_of(go, function, NUMBER_LISTS, &value_lists) ||
        value_lists <= VALUE_INLINED || go->module.table.data[last] <= DATA_INLINED)
        return false;
    uint64_t data = lists + (uint64_t)value_lists * 4;
    return number_of(go, function, lists + VALUE_INLINED * 4, &ret->values) &&
           number_of(go, function, data + DATA_INLINED * 4, &ret->list) && ret->list != UINT32_MAX;
}

/* The name of entry `index`, and an address in the call that it replaced. NULL: there is none. */
static const char *inlined(const struct elf_go *go, const struct function *function,
                           const struct tree *tree, uint32_t index, uint64_t *ret_call)
{
    uint32_t bytes = go->module.is_old ? 20 : 16, name, call;
    uint64_t at = tree->list + (uint64_t)index * bytes;
    uint64_t name_at = at + (go->module.is_old ? 12 : 4);
    if (!elf_view_u32(go->module.trees, name_at, &name) ||
        !elf_view_u32(go->module.trees, name_at + 4, &call))
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
