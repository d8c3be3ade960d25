/* Structures of a Java virtual machine (HotSpot) in a living process.
 *
 * libjvm exports a description of its own structures, for debuggers: a table with a row for each
 * field (vmStructs.hpp). So no offset is written here, and versions differ only in the names of
 * some fields. */
#ifndef ARGUS_LIVE_JVM_H
#define ARGUS_LIVE_JVM_H

#include "live/live_wait.h"

/* Fields that are needed: an offset, or the address of a static one. */
enum jvm_field {
    JVM_THREADS, /* the list of all threads */
    JVM_THREADS_LENGTH,
    JVM_THREADS_ITEMS,
    JVM_THREAD_SYSTEM, /* of a thread: the system's */
    JVM_SYSTEM_ID,
    JVM_THREAD_OBJECT,  /* … the Java object */
    JVM_THREAD_PENDING, /* … the monitor that it wants to enter */
    JVM_THREAD_WAITING, /* … the monitor in whose wait() it is */
    JVM_STACK_BASE,
    JVM_STACK_SIZE,
    JVM_OWNER_ID,   /* … what it is called in monitors; JDK 24 and later */
    JVM_LOCK_STACK, /* … the objects that it has locked; JDK 21 and later */
    JVM_LOCK_TOP,
    JVM_LOCK_ITEMS,
    JVM_MONITOR_OBJECT,
    JVM_MONITOR_OWNER,
    JVM_OOP_BASE,
    JVM_OOP_SHIFT,
    JVM_CLASS_BASE,
    JVM_CLASS_SHIFT,
    JVM_CLASS_SUPER,
    JVM_CLASS_NAME,
    JVM_CLASS_LAYOUT, /* for instances: their size in bytes, and a flag in bit 0 */
    JVM_SYMBOL_LENGTH,
    JVM_SYMBOL_TEXT,
    JVM_FIELDS
};

enum { JVM_CLASS_BYTES = 128, JVM_OBJECT_BYTES = 512 /* of an object that are looked at */ };

struct jvm {
    uint32_t pid;
    bool has[JVM_FIELDS];
    uint64_t field[JVM_FIELDS];
    bool owner_is_id;  /* else it is the address of a thread, or one in its stack */
    uint64_t *threads; /* addresses; owned */
    uint64_t *objects; /* of each thread its Java object; owned */
    uint32_t thread_count;
};

/* False: the process runs no HotSpot, its table has not all fields, or memory is missing. The
 * caller frees with jvm_deinit(), also then. */
bool jvm_init(struct argus_live *live, uint32_t pid, struct jvm *ret);
void jvm_deinit(struct jvm *jvm);

/* A word of its memory; 0: not readable. */
uint64_t jvm_word(const struct jvm *jvm, uint64_t address);
/* The system's ID of a thread, as the process sees it; 0: unknown. */
uint32_t jvm_system_id(const struct jvm *jvm, uint64_t thread);
/* The address of the thread with this ID; 0: none. */
uint64_t jvm_thread(const struct jvm *jvm, uint32_t system_id);
/* The address of a thread's Java object; 0: none. */
uint64_t jvm_thread_object(const struct jvm *jvm, uint64_t thread);
/* The thread that has this object; 0: none. */
uint64_t jvm_thread_of_object(const struct jvm *jvm, uint64_t object);
/* The thread that has entered a monitor; 0: none, or not known. */
uint64_t jvm_monitor_owner(const struct jvm *jvm, uint64_t monitor);
/* The object of a monitor; 0: not known. */
uint64_t jvm_monitor_object(const struct jvm *jvm, uint64_t monitor);

/* The name of an object's class ("java.lang.Object"), or of the class `depth` steps above it.
 * False: it has none, or is no object. */
bool jvm_class_name(const struct jvm *jvm, uint64_t object, unsigned depth,
                    char ret[JVM_CLASS_BYTES]);

typedef bool jvm_object_test(const struct jvm *jvm, uint64_t object, const void *context);
/* The first reference in the object that passes the test; 0: none. If `class` is not NULL, only
 * fields of this class and of those above it count, not those of a class that extends it. */
uint64_t jvm_reference(const struct jvm *jvm, uint64_t object, const char *class,
                       jvm_object_test *is_wanted, const void *context);

#endif
