/* Locks of Java programs: monitors ("synchronized"), the locks of java.util.concurrent,
 * Thread.join() and Thread.sleep().
 *
 * A monitor tells its owner. A lock of java.util.concurrent is an object: the waiting thread's own
 * object refers to it (parkBlocker), and it refers to the object of the thread that has it
 * (AbstractOwnableSynchronizer.exclusiveOwnerThread). Which of an object's fields these are, the
 * classes tell: only one reference of a thread leads to such a lock, and only one of a lock to a
 * thread. */
#include <string.h>

#include "live/live_java.h"
#include "live/live_jvm.h"

enum { LOOKED_AT = 8 /* frames */, MOST_SUPERS = 16 };

/* What a thread does in the virtual machine's functions, by the beginning of their names. The first
 * that fits counts. To add one: a row. */
enum java_wait { JAVA_NONE, JAVA_SLEEP, JAVA_ENTER, JAVA_WAIT, JAVA_PARK };

static const struct {
    const char *function;
    enum java_wait wait;
} functions[] = {
    {"JavaThread::sleep", JAVA_SLEEP},
    {"JVM_Sleep", JAVA_SLEEP},
    {"os::sleep", JAVA_SLEEP},
    {"ObjectMonitor::wait", JAVA_WAIT},
    {"JVM_MonitorWait", JAVA_WAIT},
    {"ObjectMonitor::enter", JAVA_ENTER},
    {"ObjectMonitor::EnterI", JAVA_ENTER},
    {"ObjectMonitor::ReenterI", JAVA_ENTER},
    {"ObjectMonitor::enter_internal", JAVA_ENTER},
    {"Parker::park", JAVA_PARK},
    {"Unsafe_Park", JAVA_PARK},
};

enum { ROWS = sizeof(functions) / sizeof(functions[0]) };

/* The first row that fits any function; it goes on to the next function, so that the stack is read
 * once. */
static bool note_row(const char *function, const void *context)
{
    size_t *first = *(size_t *const *)context;
    for (size_t i = 0; i < *first; i++)
        if (strncmp(function, functions[i].function, strlen(functions[i].function)) == 0)
            *first = i;
    return *first == 0;
}

static enum java_wait wait_of(struct argus_live *live, uint32_t thread)
{
    size_t row = ROWS, *first = &row;
    live_stack_has(live, thread, LOOKED_AT, note_row, &first);
    return row < ROWS ? functions[row].wait : JAVA_NONE;
}

static bool is_same(const struct jvm *jvm, uint64_t object, const void *wanted)
{
    (void)jvm;
    return object == *(const uint64_t *)wanted;
}

static bool extends_lock(const struct jvm *jvm, uint64_t object)
{
    char name[JVM_CLASS_BYTES];
    for (unsigned depth = 0; depth < MOST_SUPERS && jvm_class_name(jvm, object, depth, name);
         depth++)
        if (strcmp(name, "java.util.concurrent.locks.AbstractOwnableSynchronizer") == 0)
            return true;
    return false;
}

/* Until JDK 18 a thread also refers to what it runs (Thread.target), and that may extend the class
 * of locks, as the workers of thread pools do. A worker knows its thread; a lock does not know one
 * that waits for it, except that the first reader of a read-write lock may want to write. */
static bool is_lock(const struct jvm *jvm, uint64_t object, const void *own)
{
    static const char locks[] = "java.util.concurrent.locks.";
    char name[JVM_CLASS_BYTES];
    return extends_lock(jvm, object) && jvm_class_name(jvm, object, 0, name) &&
           (strncmp(name, locks, strlen(locks)) == 0 ||
            !jvm_reference(jvm, object, NULL, is_same, own));
}

static bool is_other_thread(const struct jvm *jvm, uint64_t object, const void *own)
{
    uint64_t thread = jvm_thread_of_object(jvm, object);
    return thread && thread != *(const uint64_t *)own;
}

/* Fills `wait`, and returns the Java thread that can end it; 0: none that is known. */
static uint64_t resolve(struct argus_live *live, const struct jvm *jvm, uint64_t thread,
                        enum java_wait how, struct argus_live_wait *wait)
{
    char name[JVM_CLASS_BYTES];
    uint64_t object, ends = 0;
    uint64_t monitor = jvm_word(
        jvm, thread + jvm->field[how == JAVA_ENTER ? JVM_THREAD_PENDING : JVM_THREAD_WAITING]);
    if (how == JAVA_PARK) {
        uint64_t own = jvm_thread_object(jvm, thread);
        object = jvm_reference(jvm, own, "java.lang.Thread", is_lock, &own);
        ends =
            jvm_thread_of_object(jvm, jvm_reference(jvm, object, NULL, is_other_thread, &thread));
    } else {
        object = jvm_monitor_object(jvm, monitor);
        ends =
            how == JAVA_ENTER ? jvm_monitor_owner(jvm, monitor) : jvm_thread_of_object(jvm, object);
    }
    if (how == JAVA_WAIT && ends && ends != thread)
        wait->kind = ARGUS_LIVE_JOIN;
    else if (how == JAVA_ENTER || (how == JAVA_PARK && object))
        wait->kind = ARGUS_LIVE_MONITOR;
    if (wait->kind == ARGUS_LIVE_MONITOR && jvm_class_name(jvm, object, 0, name))
        wait->text = live_text(live, name);
    if (wait->kind == ARGUS_LIVE_MONITOR)
        wait->object = how == JAVA_PARK ? object : monitor;
    return ends != thread ? ends : 0;
}

bool live_java_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    const struct argus_live_thread of = live->threads.data[thread];
    struct jvm jvm;
    const char *call = argus_live_call_name(&of);
    enum java_wait how = call && strcmp(call, "futex") == 0 ? wait_of(live, thread) : JAVA_NONE;
    if (how == JAVA_NONE)
        return false;
    *ret = (struct live_candidates){.link = ARGUS_LIVE_LINK_HOLDS, .end = ARGUS_LIVE_END_UNKNOWN};
    if (how == JAVA_SLEEP) {
        wait->kind = ARGUS_LIVE_SLEEP;
        ret->end = ARGUS_LIVE_END_SLEEPS;
        return true;
    }
    uint32_t pid = live_pid_of(live, thread), found = ARGUS_LIVE_NONE;
    uint64_t own = jvm_init(live, pid, &jvm) ? jvm_thread(&jvm, live_own_id(pid, of.tid)) : 0;
    uint64_t ends = own ? resolve(live, &jvm, own, how, wait) : 0;
    if (ends && live_is_still_there(live, thread))
        found = live_thread_of_own_id(live, of.process, jvm_system_id(&jvm, ends));
    jvm_deinit(&jvm);
    if (wait->kind == ARGUS_LIVE_JOIN)
        ret->link = ARGUS_LIVE_LINK_JOINED;
    if (found != ARGUS_LIVE_NONE && found != thread)
        live_candidate(ret, of.process, found);
    return true;
}
