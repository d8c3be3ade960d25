/* Property lists, in Apple's binary form or as XML; libplist parses both.
 *
 * Only the contents about the machine are published (xnu tools/lldbmacros/ktrace.py,
 * GetKtraceMachine()). The lists of images (0x8001, 0x8004) are known to be dictionaries with
 * nested lists of dictionaries, one per file. So an entry is recognized by what it must have to be
 * useful, wherever it is: a UUID, and an address or a path. The process ID is in the entry or in an
 * enclosing dictionary. The names of the keys are in keys[]. Everything else is skipped. */
#include "argus/property_lists.h"

#include <inttypes.h>
#include <plist/plist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TAG_MACHINE 0x8c00u

enum { UUID_BYTES = 16, DEEPEST = 16, MOST_BYTES = 256 << 20 };
#define LONGEST_IMAGE_BYTES (256ull << 20)

enum key { KEY_UUID, KEY_PID, KEY_ADDRESS, KEY_SIZE, KEY_PATH };

/* To add a name: a row. If several names occur, the first row counts. */
static const struct {
    const char *name;
    enum key key;
} keys[] = {
    {"UUID", KEY_UUID},
    {"uuid", KEY_UUID},
    {"BinaryUUID", KEY_UUID},
    {"PID", KEY_PID},
    {"pid", KEY_PID},
    {"ProcessID", KEY_PID},
    {"LoadAddress", KEY_ADDRESS},
    {"loadAddress", KEY_ADDRESS},
    {"load_address", KEY_ADDRESS},
    {"BaseAddress", KEY_ADDRESS},
    {"Address", KEY_ADDRESS},
    {"address", KEY_ADDRESS},
    {"Base", KEY_ADDRESS},
    {"base", KEY_ADDRESS},
    {"StartAddress", KEY_ADDRESS},
    {"Size", KEY_SIZE},
    {"size", KEY_SIZE},
    {"Length", KEY_SIZE},
    {"Path", KEY_PATH},
    {"path", KEY_PATH},
    {"BinaryPath", KEY_PATH},
    {"FilePath", KEY_PATH},
    {"Name", KEY_PATH},
    {"name", KEY_PATH},
};

/* libplist 2.2 aborts if it is asked for the text of a key that contains a zero byte, so keys are
 * only compared. */
static bool is_key_of(plist_t value, const char *name)
{
    plist_t key = plist_dict_item_get_key(value);
    return key && plist_key_val_compare(key, name) == 0;
}

static plist_t next_value(plist_t dictionary, plist_dict_iter iterator)
{
    plist_t value = NULL;
    if (iterator)
        plist_dict_next_item(dictionary, iterator, NULL, &value);
    return value;
}

static plist_t value_of(plist_t dictionary, enum key key)
{
    plist_dict_iter iterator = NULL;
    plist_t found = NULL, value;
    size_t best = sizeof(keys) / sizeof(*keys);
    plist_dict_new_iter(dictionary, &iterator);
    while ((value = next_value(dictionary, iterator)))
        for (size_t i = 0; i < best; i++)
            if (keys[i].key == key && is_key_of(value, keys[i].name)) {
                found = value;
                best = i;
            }
    free(iterator);
    return found;
}

static bool get_number(plist_t dictionary, enum key key, uint64_t *ret)
{
    plist_t value = value_of(dictionary, key);
    if (!value || plist_get_node_type(value) != PLIST_UINT)
        return false;
    plist_get_uint_val(value, ret);
    return true;
}

static const char hexadecimal[] = "0123456789abcdef0123456789ABCDEF"; /* values modulo 16 */

/* Sixteen bytes, or a text like "2B3A…-…" with or without hyphens. */
static bool get_uuid(plist_t dictionary, uint8_t ret[UUID_BYTES])
{
    plist_t value = value_of(dictionary, KEY_UUID);
    uint64_t length = 0;
    size_t digits = 0;
    if (!value)
        return false;
    if (plist_get_node_type(value) == PLIST_DATA) {
        const char *data = plist_get_data_ptr(value, &length);
        if (data && length == UUID_BYTES)
            memcpy(ret, data, UUID_BYTES);
        return data && length == UUID_BYTES;
    }
    const char *text =
        plist_get_node_type(value) == PLIST_STRING ? plist_get_string_ptr(value, &length) : NULL;
    for (size_t i = 0; text && text[i] && digits < 2 * UUID_BYTES; i++) {
        const char *digit = strchr(hexadecimal, text[i]);
        if (text[i] == '-')
            continue;
        if (!digit)
            return false;
        uint8_t nibble = (uint8_t)((digit - hexadecimal) & 15);
        ret[digits / 2] = (uint8_t)(digits % 2 ? ret[digits / 2] << 4 | nibble : nibble);
        digits++;
    }
    return digits == 2 * UUID_BYTES;
}

struct reading {
    struct argus_trace *trace;
    struct argus_error *error;
    uint64_t images;
};

/* A dictionary that describes one file. */
static void take_image(struct reading *reading, plist_t dictionary, uint64_t pid)
{
    struct argus_image_entry image = {.pid = pid, .path = "", .build_id_bytes = UUID_BYTES};
    uint64_t length = LONGEST_IMAGE_BYTES, path_bytes;
    plist_t path = value_of(dictionary, KEY_PATH);
    if (!get_uuid(dictionary, image.build_id))
        return;
    if (path && plist_get_node_type(path) == PLIST_STRING)
        image.path = plist_get_string_ptr(path, &path_bytes);
    if (get_number(dictionary, KEY_ADDRESS, &image.start)) {
        get_number(dictionary, KEY_SIZE, &length);
        image.end = length < UINT64_MAX - image.start ? image.start + length : UINT64_MAX;
    }
    if (!*image.path && !image.end)
        return;
    reading->error = argus_trace_add_image(reading->trace, &image);
    reading->images++;
}

static void look_into(struct reading *reading, plist_t node, uint64_t pid, int depth);

static void look_into_dictionary(struct reading *reading, plist_t node, uint64_t pid, int depth)
{
    plist_dict_iter iterator = NULL;
    plist_t value;
    get_number(node, KEY_PID, &pid);
    take_image(reading, node, pid);
    plist_dict_new_iter(node, &iterator);
    while (!reading->error && (value = next_value(node, iterator)))
        look_into(reading, value, pid, depth);
    free(iterator);
}

static void look_into(struct reading *reading, plist_t node, uint64_t pid, int depth)
{
    plist_type type = plist_get_node_type(node);
    if (depth == DEEPEST)
        return;
    if (type == PLIST_DICT)
        look_into_dictionary(reading, node, pid, depth + 1);
    plist_array_iter iterator = NULL;
    if (type == PLIST_ARRAY)
        plist_array_new_iter(node, &iterator);
    for (plist_t item = node; iterator && item && !reading->error;) {
        item = NULL;
        plist_array_next_item(node, iterator, &item);
        if (item)
            look_into(reading, item, pid, depth + 1);
    }
    free(iterator);
}

/* What ktrace tells about the machine. To add something: the name of its key. */
static void describe_machine(struct reading *reading, plist_t node)
{
    static const char *const shown[] = {"hw_model", "os_name", "os_version", "os_build"};
    char note[200];
    struct text text = {.buffer = note, .bytes = sizeof(note)};
    uint64_t length;
    if (plist_get_node_type(node) != PLIST_DICT)
        return;
    text_add(&text, "the machine, as the file says:");
    size_t begins = text.length;
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        plist_dict_iter iterator = NULL;
        plist_t value;
        plist_dict_new_iter(node, &iterator);
        while ((value = next_value(node, iterator)))
            if (is_key_of(value, shown[i]) && plist_get_node_type(value) == PLIST_STRING)
                text_add(&text, " %s", plist_get_string_ptr(value, &length));
        free(iterator);
    }
    if (text.length > begins)
        reading->error = argus_trace_add_note(reading->trace, note);
}

static void read_one(struct reading *reading, const struct argus_attachment *attachment,
                     const char *bytes)
{
    plist_t node = NULL;
    char note[96];
    bool binary = attachment->length_bytes >= 8 && memcmp(bytes, "bplist00", 8) == 0;
    if (binary)
        plist_from_bin(bytes, (uint32_t)attachment->length_bytes, &node);
    else
        plist_from_xml(bytes, (uint32_t)attachment->length_bytes, &node);
    if (!node) {
        snprintf(note, sizeof(note),
                 "the property list at offset %" PRIu64 " (chunk 0x%" PRIx32 ") cannot be read",
                 attachment->offset_bytes, attachment->tag);
        reading->error = argus_trace_add_note(reading->trace, note);
        return;
    }
    if (attachment->tag == TAG_MACHINE)
        describe_machine(reading, node);
    else
        look_into(reading, node, ARGUS_ANY_PID, 0);
    plist_free(node);
}

struct argus_error *argus_property_lists_read(struct argus_trace *trace)
{
    const struct argus_attachment *attachments;
    struct reading reading = {.trace = trace};
    size_t count = argus_trace_attachments(trace, &attachments);
    for (size_t i = 0; i < count && !reading.error; i++) {
        if (attachments[i].length_bytes > MOST_BYTES)
            continue;
        uint8_t *bytes = malloc((size_t)attachments[i].length_bytes + 1);
        if (!bytes)
            return argus_error_memory();
        bytes[attachments[i].length_bytes] = 0;
        reading.error = argus_trace_read_attachment(trace, &attachments[i], bytes);
        if (!reading.error)
            read_one(&reading, &attachments[i], (const char *)bytes);
        free(bytes);
    }
    if (!reading.error)
        argus_trace_name_images(trace);
    return reading.error;
}
