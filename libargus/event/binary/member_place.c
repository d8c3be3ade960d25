/* The longest beginning of the text that is a symbol is the variable, because symbols themselves
 * may have dots and arrows ("done.0"). From there the types lead from member to member. */
#include "event/binary/member_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/data_module.h"
#include "event/binary/dwarf_type.h"
#include "event/binary/dwarf_variable.h"

enum { NAME_MOST = 200, NESTED_MOST = 32 };

struct reading {
    const char *whole, *file; /* borrowed; for messages */
    const char *rest;         /* what has not been read */
    struct argus_data_place *place;
    Dwarf_Die type;
    bool is_type_known;
    unsigned dimension; /* of an array: indices that were read */
    uint64_t offset;    /* behind the variable or the last pointer */
    bool is_behind_pointer;
    uint64_t bytes; /* of a bit-field; 0: the type's */
};

/* --- the variable --- */

struct root {
    const char *text;
    size_t length; /* of the longest name so far; 0: none */
    struct argus_data_symbol symbol;
};

static bool ends_name(const char *text)
{
    return !*text || *text == '.' || *text == '[' || *text == '+' || strncmp(text, "->", 2) == 0;
}

static bool offer_root(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    struct root *root = context;
    size_t length = strlen(name);
    if (length <= root->length || strncmp(root->text, name, length) != 0 ||
        !ends_name(root->text + length))
        return true;
    root->length = length;
    root->symbol = *symbol;
    return true;
}

static struct argus_error *no_type(const struct reading *reading)
{
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "the debug information of %s does not tell the type at '%.*s': use "
                              "an offset (->0x18)",
                              reading->file, (int)(reading->rest - reading->whole), reading->whole);
}

static void find_root_type(Dwfl_Module *module, const struct root *root, struct reading *reading)
{
    Dwarf_Addr bias = 0;
    Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
    struct dwarf_wanted wanted = {.address = root->symbol.address -
                                             (root->symbol.is_thread_local ? 0 : bias),
                                  .is_thread_local = root->symbol.is_thread_local};
    Dwarf_Die die;
    reading->is_type_known = dwarf && dwarf_variable_find(dwarf, NULL, &wanted, &die) &&
                             dwarf_type_of(&die, &reading->type);
}

/* --- what follows it --- */

static struct argus_error *flush(struct reading *reading)
{
    char *text = reading->place->text;
    size_t length = strlen(text), room = sizeof(reading->place->text) - length;
    int more = 0;
    if (reading->is_behind_pointer)
        more = snprintf(text + length, room, "->0x%" PRIx64, reading->offset);
    else if (reading->offset)
        more = snprintf(text + length, room, "+0x%" PRIx64, reading->offset);
    if (more < 0 || (size_t)more >= room)
        return argus_error_create(ARGUS_ERROR_USAGE, "'%s' is too long", reading->whole);
    reading->offset = 0;
    reading->is_behind_pointer = true;
    return NULL;
}

static struct argus_error *read_number(struct reading *reading, uint64_t *ret)
{
    char *end;
    if (*reading->rest < '0' || *reading->rest > '9')
        return argus_error_create(ARGUS_ERROR_USAGE, "'%s' is not a number", reading->rest);
    *ret = strtoull(reading->rest, &end, 0);
    reading->rest = end;
    return NULL;
}

/* Also in base classes and anonymous members. */
static bool find_member(Dwarf_Die *type, const char *name, int depth, struct dwarf_part *ret)
{
    struct dwarf_parts parts = {.type = *type};
    struct dwarf_part part;
    while (depth < NESTED_MOST && dwarf_type_is_struct(type) && dwarf_parts_next(&parts, &part)) {
        if (part.name && strcmp(part.name, name) == 0) {
            *ret = part;
            return true;
        }
        if (part.name || !find_member(&part.type, name, depth + 1, ret))
            continue;
        ret->offset += part.offset;
        return true;
    }
    return false;
}

static void list_members(Dwarf_Die *type, char *text, size_t bytes)
{
    struct dwarf_parts parts = {.type = *type};
    struct dwarf_part part;
    text[0] = '\0';
    while (dwarf_type_is_struct(type) && dwarf_parts_next(&parts, &part)) {
        size_t length = strlen(text);
        if (part.name && length + strlen(part.name) + 8 < bytes)
            snprintf(text + length, bytes - length, "%s%s", length ? ", " : "", part.name);
    }
}

static struct argus_error *no_member(struct reading *reading, const char *name, size_t end)
{
    char members[400];
    list_members(&reading->type, members, sizeof(members));
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "'%.*s' has no member '%s'%s%s", (int)end,
                              reading->whole, name, members[0] ? "; it has " : "", members);
}

static struct argus_error *read_member(struct reading *reading, size_t end)
{
    char name[NAME_MOST];
    struct dwarf_part part;
    size_t length = 0;
    while (!ends_name(reading->rest + length))
        length++;
    snprintf(name, sizeof(name), "%.*s", (int)length, reading->rest);
    if (!reading->is_type_known)
        return no_type(reading);
    if (!find_member(&reading->type, name, 0, &part))
        return no_member(reading, name, end);
    reading->rest += length;
    reading->type = part.type;
    reading->dimension = 0;
    reading->offset += part.offset;
    reading->bytes = part.bits ? part.bytes : 0;
    return NULL;
}

static struct argus_error *follow_pointer(struct reading *reading)
{
    if (reading->is_type_known && !dwarf_type_is_pointer(&reading->type))
        return argus_error_create(ARGUS_ERROR_USAGE, "'%.*s' is not a pointer",
                                  (int)(reading->rest - reading->whole), reading->whole);
    struct argus_error *error = flush(reading);
    Dwarf_Die pointer = reading->type;
    reading->dimension = 0;
    reading->is_type_known = reading->is_type_known && dwarf_type_of(&pointer, &reading->type);
    return error;
}

static struct argus_error *read_arrow(struct reading *reading)
{
    size_t end = (size_t)(reading->rest - reading->whole);
    struct argus_error *error = follow_pointer(reading);
    reading->rest += 2;
    if (error || *reading->rest < '0' || *reading->rest > '9')
        return error ? error : read_member(reading, end);
    reading->is_type_known = false;
    reading->bytes = 0;
    return read_number(reading, &reading->offset);
}

/* Of an array, or behind a pointer as in C. */
static struct argus_error *read_index(struct reading *reading)
{
    uint64_t index = 0, strides[DWARF_DIMENSIONS];
    Dwarf_Die array = reading->type;
    if (!reading->is_type_known)
        return no_type(reading);
    bool is_pointer = dwarf_type_is_pointer(&reading->type);
    struct argus_error *error = is_pointer ? follow_pointer(reading) : NULL;
    reading->rest++;
    error = error ? error : read_number(reading, &index);
    if (error || *reading->rest++ != ']')
        return error ? error : argus_error_create(ARGUS_ERROR_USAGE, "']' is missing");
    if (is_pointer) {
        reading->offset = index * (reading->is_type_known ? dwarf_type_bytes(&reading->type) : 0);
        return reading->is_type_known ? NULL : no_type(reading);
    }
    unsigned count = dwarf_type_is_array(&array) ? dwarf_array_strides(&array, strides) : 0;
    if (reading->dimension >= count)
        return argus_error_create(ARGUS_ERROR_USAGE, "'%.*s' is more than its array has",
                                  (int)(reading->rest - reading->whole), reading->whole);
    reading->offset += index * strides[reading->dimension++];
    if (reading->dimension == count) {
        reading->dimension = 0;
        reading->is_type_known = dwarf_type_of(&array, &reading->type);
    }
    return NULL;
}

static struct argus_error *read_rest(struct reading *reading)
{
    struct argus_error *error = NULL;
    if (*reading->rest == '+') {
        reading->rest++;
        reading->is_type_known = false;
        error = read_number(reading, &reading->offset);
    }
    while (!error && *reading->rest) {
        size_t end = (size_t)(reading->rest - reading->whole);
        if (strncmp(reading->rest, "->", 2) == 0) {
            error = read_arrow(reading);
        } else if (*reading->rest == '[') {
            error = read_index(reading);
        } else if (*reading->rest == '.') {
            reading->rest++;
            error = read_member(reading, end);
        } else {
            error = argus_error_create(ARGUS_ERROR_USAGE, "'%s' is no member, index or offset",
                                       reading->rest);
        }
    }
    if (error || (!reading->is_behind_pointer && !reading->offset))
        return error;
    return flush(reading);
}

struct argus_error *member_place_read(Dwfl_Module *module, const char *file, const char *text,
                                      struct argus_data_place *ret)
{
    struct root root = {.text = text};
    struct reading reading = {.whole = text, .file = file, .place = ret};
    *ret = (struct argus_data_place){.bytes = 0};
    data_module_each(module, offer_root, &root);
    if (!root.length || root.length >= sizeof(ret->text)) {
        snprintf(ret->text, sizeof(ret->text), "%s", text);
        return NULL;
    }
    memcpy(ret->text, text, root.length);
    reading.rest = text + root.length;
    find_root_type(module, &root, &reading);
    struct argus_error *error = read_rest(&reading);
    if (!error && reading.is_type_known)
        ret->bytes = reading.bytes ? reading.bytes : dwarf_type_bytes(&reading.type);
    return error;
}
