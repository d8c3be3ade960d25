#include "live/live_jvm.h"
#include "live/live_images.h"

#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_exports.h"

enum {
    NAME_BYTES = 64,
    MOST_ROWS = 16384,
    MOST_THREADS = 16384,
    MOST_LOCKS = 64, /* that one thread has */
    ANONYMOUS = 1,   /* an owner that has not been told yet (objectMonitor.hpp) */
    CLASS_AT = 8,    /* of an object: behind its mark */
    MOST_SUPERS = 16,
};

/* The names of a field in JDK 11 to 25. To add one: a row. */
static const struct {
    const char *type, *name;
    enum jvm_field field;
} wanted[] = {
    {"ThreadsSMRSupport", "_java_thread_list", JVM_THREADS},
    {"ThreadsList", "_length", JVM_THREADS_LENGTH},
    {"ThreadsList", "_threads", JVM_THREADS_ITEMS},
    {"JavaThread", "_osthread", JVM_THREAD_SYSTEM},
    {"Thread", "_osthread", JVM_THREAD_SYSTEM},
    {"OSThread", "_thread_id", JVM_SYSTEM_ID},
    {"JavaThread", "_threadObj", JVM_THREAD_OBJECT},
    {"JavaThread", "_current_pending_monitor", JVM_THREAD_PENDING},
    {"Thread", "_current_pending_monitor", JVM_THREAD_PENDING},
    {"JavaThread", "_current_waiting_monitor", JVM_THREAD_WAITING},
    {"Thread", "_current_waiting_monitor", JVM_THREAD_WAITING},
    {"JavaThread", "_stack_base", JVM_STACK_BASE},
    {"Thread", "_stack_base", JVM_STACK_BASE},
    {"JavaThread", "_stack_size", JVM_STACK_SIZE},
    {"Thread", "_stack_size", JVM_STACK_SIZE},
    {"JavaThread", "_monitor_owner_id", JVM_OWNER_ID},
    {"JavaThread", "_lock_stack", JVM_LOCK_STACK},
    {"LockStack", "_top", JVM_LOCK_TOP},
    {"LockStack", "_base[0]", JVM_LOCK_ITEMS},
    {"ObjectMonitor", "_object", JVM_MONITOR_OBJECT},
    {"ObjectMonitor", "_owner", JVM_MONITOR_OWNER},
    {"Universe", "_narrow_oop._base", JVM_OOP_BASE},
    {"Universe", "_narrow_oop._shift", JVM_OOP_SHIFT},
    {"CompressedOops", "_narrow_oop._base", JVM_OOP_BASE},
    {"CompressedOops", "_narrow_oop._shift", JVM_OOP_SHIFT},
    {"CompressedOops", "_base", JVM_OOP_BASE},
    {"CompressedOops", "_shift", JVM_OOP_SHIFT},
    {"Universe", "_narrow_klass._base", JVM_CLASS_BASE},
    {"Universe", "_narrow_klass._shift", JVM_CLASS_SHIFT},
    {"CompressedKlassPointers", "_narrow_klass._base", JVM_CLASS_BASE},
    {"CompressedKlassPointers", "_narrow_klass._shift", JVM_CLASS_SHIFT},
    {"CompressedKlassPointers", "_base", JVM_CLASS_BASE},
    {"CompressedKlassPointers", "_shift", JVM_CLASS_SHIFT},
    {"Klass", "_super", JVM_CLASS_SUPER},
    {"Klass", "_name", JVM_CLASS_NAME},
    {"Klass", "_layout_helper", JVM_CLASS_LAYOUT},
    {"Symbol", "_length", JVM_SYMBOL_LENGTH},
    {"Symbol", "_body[0]", JVM_SYMBOL_TEXT},
};

uint64_t jvm_word(const struct jvm *jvm, uint64_t address)
{
    uint64_t word = 0;
    return address && live_memory(jvm->pid, address, &word, sizeof(word)) ? word : 0;
}

static uint32_t u32_at(const struct jvm *jvm, uint64_t address)
{
    uint32_t word = 0;
    return address && live_memory(jvm->pid, address, &word, sizeof(word)) ? word : 0;
}

static uint64_t word_of(const struct jvm *jvm, uint64_t structure, enum jvm_field field)
{
    return structure && jvm->has[field] ? jvm_word(jvm, structure + jvm->field[field]) : 0;
}

/* --- the table --- */

/* Where a row of the table has what; each is a variable of libjvm. */
enum column { ROWS, STRIDE, TYPE, NAME, TYPE_TEXT, IS_STATIC, OFFSET, ADDRESS, COLUMNS };

static const char *const columns[COLUMNS] = {
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryTypeStringOffset",
    "gHotSpotVMStructEntryIsStaticOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
};

static bool read_columns(const struct jvm *jvm, const struct live_elf *file, uint64_t bias,
                         uint64_t ret[COLUMNS])
{
    struct elf_export found;
    for (int i = 0; i < COLUMNS; i++) {
        if (!elf_export_find(file->elf, columns[i], &found) || !found.is_defined)
            return false;
        ret[i] = jvm_word(jvm, found.address + bias);
    }
    return ret[ROWS] && ret[STRIDE];
}

static void take_row(struct jvm *jvm, const uint64_t *column, uint64_t row, const char *type,
                     const char *name)
{
    char text[NAME_BYTES];
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (strcmp(wanted[i].type, type) != 0 || strcmp(wanted[i].name, name) != 0)
            continue;
        enum jvm_field field = wanted[i].field;
        bool is_static = u32_at(jvm, row + column[IS_STATIC]) != 0;
        jvm->field[field] = jvm_word(jvm, row + column[is_static ? ADDRESS : OFFSET]);
        jvm->has[field] = true;
        if (field == JVM_MONITOR_OWNER)
            jvm->owner_is_id = live_memory_text(jvm->pid, jvm_word(jvm, row + column[TYPE_TEXT]),
                                                text, sizeof(text)) &&
                               strcmp(text, "int64_t") == 0;
    }
}

/* The last row has no type. */
static void read_rows(struct jvm *jvm, const uint64_t *column)
{
    char type[NAME_BYTES + 1], name[NAME_BYTES + 1];
    uint64_t row = column[ROWS];
    for (int i = 0; i < MOST_ROWS; i++, row += column[STRIDE]) {
        uint64_t address = jvm_word(jvm, row + column[TYPE]);
        if (!address)
            return;
        if (live_memory_text(jvm->pid, address, type, sizeof(type)) &&
            live_memory_text(jvm->pid, jvm_word(jvm, row + column[NAME]), name, sizeof(name)))
            take_row(jvm, column, row, type, name);
    }
}

static bool has_all(const struct jvm *jvm)
{
    for (int i = 0; i < JVM_FIELDS; i++)
        if (!jvm->has[i] && i != JVM_OWNER_ID && i != JVM_LOCK_STACK && i != JVM_LOCK_TOP &&
            i != JVM_LOCK_ITEMS)
            return false;
    return true;
}

static bool read_threads(struct jvm *jvm)
{
    uint64_t list = jvm_word(jvm, jvm->field[JVM_THREADS]);
    uint32_t count = list ? u32_at(jvm, list + jvm->field[JVM_THREADS_LENGTH]) : 0;
    uint64_t items = word_of(jvm, list, JVM_THREADS_ITEMS);
    if (!count || count > MOST_THREADS)
        return false;
    jvm->threads = calloc(count, sizeof(*jvm->threads));
    jvm->objects = calloc(count, sizeof(*jvm->objects));
    if (!jvm->threads || !jvm->objects ||
        !live_memory(jvm->pid, items, jvm->threads, count * sizeof(*jvm->threads)))
        return false;
    jvm->thread_count = count;
    for (uint32_t i = 0; i < count; i++)
        jvm->objects[i] = jvm_thread_object(jvm, jvm->threads[i]);
    return true;
}

bool jvm_init(struct argus_live *live, uint32_t pid, struct jvm *ret)
{
    struct live_elf *file;
    uint64_t bias, column[COLUMNS];
    *ret = (struct jvm){.pid = pid};
    for (size_t i = 0; (file = live_elf_at(live, pid, i, &bias)); i++)
        if (strstr(strtab_get(live->texts, file->path), "libjvm") &&
            read_columns(ret, file, bias, column)) {
            read_rows(ret, column);
            return has_all(ret) && read_threads(ret);
        }
    return false;
}

void jvm_deinit(struct jvm *jvm)
{
    free(jvm->threads);
    free(jvm->objects);
    jvm->threads = jvm->objects = NULL;
}

/* --- threads --- */

uint32_t jvm_system_id(const struct jvm *jvm, uint64_t thread)
{
    uint64_t system = word_of(jvm, thread, JVM_THREAD_SYSTEM);
    return system ? u32_at(jvm, system + jvm->field[JVM_SYSTEM_ID]) : 0;
}

uint64_t jvm_thread(const struct jvm *jvm, uint32_t system_id)
{
    for (uint32_t i = 0; i < jvm->thread_count; i++)
        if (jvm_system_id(jvm, jvm->threads[i]) == system_id)
            return jvm->threads[i];
    return 0;
}

/* The field has a handle: the address of a reference to the object. */
uint64_t jvm_thread_object(const struct jvm *jvm, uint64_t thread)
{
    return jvm_word(jvm, word_of(jvm, thread, JVM_THREAD_OBJECT));
}

uint64_t jvm_thread_of_object(const struct jvm *jvm, uint64_t object)
{
    for (uint32_t i = 0; object && i < jvm->thread_count; i++)
        if (jvm->objects[i] == object)
            return jvm->threads[i];
    return 0;
}

/* --- monitors --- */

uint64_t jvm_monitor_object(const struct jvm *jvm, uint64_t monitor)
{
    return jvm_word(jvm, word_of(jvm, monitor, JVM_MONITOR_OBJECT));
}

/* Whether the object is among those that the thread has locked: `_top` is an offset in the thread.
 */
static bool has_locked(const struct jvm *jvm, uint64_t thread, uint64_t object)
{
    if (!jvm->has[JVM_LOCK_STACK] || !jvm->has[JVM_LOCK_TOP] || !jvm->has[JVM_LOCK_ITEMS])
        return false;
    uint64_t at = jvm->field[JVM_LOCK_STACK] + jvm->field[JVM_LOCK_ITEMS];
    uint64_t top = u32_at(jvm, thread + jvm->field[JVM_LOCK_STACK] + jvm->field[JVM_LOCK_TOP]);
    for (int i = 0; at < top && i < MOST_LOCKS; i++, at += sizeof(uint64_t))
        if (jvm_word(jvm, thread + at) == object)
            return true;
    return false;
}

static bool is_owner(const struct jvm *jvm, uint64_t thread, uint64_t owner, uint64_t object)
{
    if (owner == ANONYMOUS)
        return object && has_locked(jvm, thread, object);
    if (jvm->owner_is_id)
        return word_of(jvm, thread, JVM_OWNER_ID) == owner;
    uint64_t base = word_of(jvm, thread, JVM_STACK_BASE);
    uint64_t size = word_of(jvm, thread, JVM_STACK_SIZE);
    return thread == owner || (owner < base && base - owner <= size);
}

uint64_t jvm_monitor_owner(const struct jvm *jvm, uint64_t monitor)
{
    uint64_t owner = word_of(jvm, monitor, JVM_MONITOR_OWNER), found = 0;
    uint64_t object = jvm_monitor_object(jvm, monitor);
    for (uint32_t i = 0; owner && !found && i < jvm->thread_count; i++)
        if (is_owner(jvm, jvm->threads[i], owner, object))
            found = jvm->threads[i];
    /* it may have been left meanwhile */
    return word_of(jvm, monitor, JVM_MONITOR_OWNER) == owner ? found : 0;
}

/* --- objects --- */

static bool read_name(const struct jvm *jvm, uint64_t class, char ret[JVM_CLASS_BYTES])
{
    uint64_t symbol = word_of(jvm, class, JVM_CLASS_NAME);
    uint16_t length;
    if (!symbol ||
        !live_memory(jvm->pid, symbol + jvm->field[JVM_SYMBOL_LENGTH], &length, sizeof(length)) ||
        !length || length >= JVM_CLASS_BYTES ||
        !live_memory(jvm->pid, symbol + jvm->field[JVM_SYMBOL_TEXT], ret, length))
        return false;
    ret[length] = '\0';
    for (uint16_t i = 0; i < length; i++) {
        if ((unsigned char)ret[i] <= ' ' || (unsigned char)ret[i] >= 0x7f)
            return false;
        if (ret[i] == '/')
            ret[i] = '.';
    }
    return true;
}

/* The class is a number of 32 bits or an address, depending on the process's options. 0: it is no
 * object. */
static uint64_t class_of(const struct jvm *jvm, uint64_t object)
{
    char name[JVM_CLASS_BYTES];
    uint64_t word = object ? jvm_word(jvm, object + CLASS_AT) : 0;
    uint64_t base = jvm_word(jvm, jvm->field[JVM_CLASS_BASE]);
    uint32_t shift = u32_at(jvm, jvm->field[JVM_CLASS_SHIFT]) % 32;
    uint64_t narrow = base + ((word & UINT32_MAX) << shift);
    return !word                          ? 0
           : read_name(jvm, narrow, name) ? narrow
           : read_name(jvm, word, name)   ? word
                                          : 0;
}

bool jvm_class_name(const struct jvm *jvm, uint64_t object, unsigned depth,
                    char ret[JVM_CLASS_BYTES])
{
    uint64_t class = class_of(jvm, object);
    for (; class && depth > 0; depth--)
        class = word_of(jvm, class, JVM_CLASS_SUPER);
    return class && read_name(jvm, class, ret);
}

/* Of an instance; 0: it is none, or larger than any that is looked at. With the name of a class:
 * only of that part of the object. */
static size_t size_of(const struct jvm *jvm, uint64_t object, const char *name)
{
    char found[JVM_CLASS_BYTES];
    uint64_t class = class_of(jvm, object);
    for (int i = 0; name && class && i < MOST_SUPERS; i++) {
        if (read_name(jvm, class, found) && strcmp(found, name) == 0)
            break;
        class = word_of(jvm, class, JVM_CLASS_SUPER);
    }
    uint32_t layout = class ? u32_at(jvm, class + jvm->field[JVM_CLASS_LAYOUT]) & ~1u : 0;
    return layout <= JVM_OBJECT_BYTES ? layout : 0;
}

/* References, too: both ways are tried, because a wrong one leads to no object of the class. */
uint64_t jvm_reference(const struct jvm *jvm, uint64_t object, const char *class,
                       jvm_object_test *is_wanted, const void *context)
{
    uint8_t bytes[JVM_OBJECT_BYTES];
    uint64_t base = jvm_word(jvm, jvm->field[JVM_OOP_BASE]);
    uint32_t shift = u32_at(jvm, jvm->field[JVM_OOP_SHIFT]) % 32, narrow;
    size_t size = size_of(jvm, object, class);
    if (!size || !live_memory(jvm->pid, object, bytes, size))
        return 0;
    for (size_t at = CLASS_AT; at + sizeof(narrow) <= size; at += sizeof(narrow)) {
        uint64_t wide = 0;
        memcpy(&narrow, bytes + at, sizeof(narrow));
        if (at + sizeof(wide) <= size)
            memcpy(&wide, bytes + at, sizeof(wide));
        uint64_t reference = base + ((uint64_t)narrow << shift);
        if (narrow && is_wanted(jvm, reference, context))
            return reference;
        if (wide && at % sizeof(wide) == 0 && is_wanted(jvm, wide, context))
            return wide;
    }
    return 0;
}
