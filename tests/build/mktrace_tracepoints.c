/* The tracepoints of docs/man/argus-trace.5.md by name. */
#include <string.h>

#include "mktrace.h"

/* An argument's name, which of the four it is in (0 is the code of the debugid), and its lowest bit
 * there. */
struct argument {
    const char *name;
    int place, shift;
};

enum { IN_DEBUGID = 0, MOST_ARGUMENTS = 6 };

/* To add a tracepoint: one row. arg1= to arg4= work for all of them, and `record` takes any id=. */
static const struct tracepoint {
    const char *name;
    uint32_t debugid;
    struct argument arguments[MOST_ARGUMENTS + 1];
} tracepoints[] = {
    {"left_out", ARGUS_ID_LEFT_OUT, {{"categories", 1, 0}, {"changed", 2, 0}}},
    {"switch",
     ARGUS_ID_SWITCH,
     {{"state", 1, 0}, {"next", 2, 0}, {"prev_priority", 3, 0}, {"next_priority", 4, 0}}},
    {"make_runnable",
     ARGUS_ID_MAKE_RUNNABLE,
     {{"thread", 1, 0}, {"priority", 2, 0}, {"new", 3, 0}, {"context", 4, 0}}},
    {"interrupt_start", ARGUS_ID_INTERRUPT | ARGUS_FUNC_START, {{"irq", 1, 0}}},
    {"interrupt_end", ARGUS_ID_INTERRUPT | ARGUS_FUNC_END, {{"irq", 1, 0}}},
    {"timer_armed",
     ARGUS_ID_TIMER_ARMED,
     {{"timer", 1, 0}, {"function", 2, 0}, {"expiry", 3, 0}, {"mode", 4, 0}, {"wheel", 4, 32}}},
    {"timer_cancelled", ARGUS_ID_TIMER_CANCEL, {{"timer", 1, 0}, {"wheel", 4, 32}}},
    {"timer_fired_start",
     ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START,
     {{"timer", 1, 0}, {"function", 2, 0}, {"now", 3, 0}, {"wheel", 4, 32}}},
    {"timer_fired_end", ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_END, {{"timer", 1, 0}, {"wheel", 4, 32}}},
    {"syscall_start", ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_START, {{"nr", IN_DEBUGID, 2}}},
    {"syscall_end",
     ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_END,
     {{"nr", IN_DEBUGID, 2}, {"error", 1, 0}, {"result", 2, 0}, {"left_out", 3, 0}, {"pid", 4, 0}}},
    {"syscall_more", ARGUS_ID_SYSCALL_MORE, {{"nr", 1, 0}, {"arg5", 2, 0}, {"arg6", 3, 0}}},
    {"lock", ARGUS_ID_LOCK, {{"address", 1, 0}, {"word", 2, 0}, {"owner", 3, 0}}},
    {"object",
     ARGUS_ID_OBJECT,
     {{"fd", 1, 0},
      {"inode", 2, 0},
      {"peer", 3, 0},
      {"mode", 4, 0},
      {"family", 4, 16},
      {"socktype", 4, 32}}},
    {"new_thread",
     ARGUS_ID_NEW_THREAD,
     {{"thread", 1, 0}, {"pid", 2, 0}, {"new_process", 3, 0}, {"parent", 4, 0}}},
    {"exec", ARGUS_ID_EXEC, {{"pid", 1, 0}}},
    {"thread_exit", ARGUS_ID_THREAD_EXIT, {{"thread", 1, 0}, {"last", 2, 0}}},
    {"name_new", ARGUS_ID_NAME_NEW, {{0}}},
    {"name_exec", ARGUS_ID_NAME_EXEC, {{0}}},
    {"name_thread", ARGUS_ID_NAME_THREAD, {{0}}},
    {"stack", ARGUS_ID_STACK, {{"user", 1, 0}, {"kernel", 2, 0}, {"why", 3, 0}}},
    {"sample", ARGUS_ID_SAMPLE, {{"user", 1, 0}, {"kernel", 2, 0}, {"pc", 3, 0}}},
    {"softirq_start", ARGUS_ID_SOFTIRQ | ARGUS_FUNC_START, {{"vector", 1, 0}}},
    {"softirq_end", ARGUS_ID_SOFTIRQ | ARGUS_FUNC_END, {{"vector", 1, 0}}},
    {"work_start", ARGUS_ID_WORK | ARGUS_FUNC_START, {{"work", 1, 0}, {"function", 2, 0}}},
    {"work_end", ARGUS_ID_WORK | ARGUS_FUNC_END, {{"work", 1, 0}}},
    {"work_queued", ARGUS_ID_WORK_QUEUED, {{"work", 1, 0}, {"function", 2, 0}, {"context", 4, 0}}},
    {"block_issued",
     ARGUS_ID_BLOCK_ISSUED,
     {{"request", 1, 0}, {"sector", 2, 0}, {"bytes", 3, 0}, {"device", 4, 0}, {"op", 4, 32}}},
    {"block_queued", ARGUS_ID_BLOCK_QUEUED, {{"request", 1, 0}, {"sector", 2, 0}}},
    {"block_completed",
     ARGUS_ID_BLOCK_COMPLETED,
     {{"request", 1, 0}, {"error", 2, 0}, {"bytes", 3, 0}}},
    {"block_file",
     ARGUS_ID_BLOCK_FILE,
     {{"request", 1, 0}, {"inode", 2, 0}, {"offset", 3, 0}, {"device", 4, 0}}},
    {"cpu_limits",
     ARGUS_ID_CPU_LIMITS,
     {{"cpus", 1, 0}, {"group", 2, 0}, {"quota", 3, 0}, {"period", 4, 0}}},
    {"cpu_group", ARGUS_ID_CPU_GROUP, {{0}}},
    {"itimer_armed", ARGUS_ID_ITIMER_ARMED, {{"which", 1, 0}, {"value", 2, 0}, {"interval", 3, 0}}},
    {"itimer_fired", ARGUS_ID_ITIMER_FIRED, {{"which", 1, 0}, {"pid", 2, 0}}},
    {"message",
     ARGUS_ID_MESSAGE,
     {{"channel", 1, 0},
      {"bytes", 2, 0},
      {"kind", 2, 48},
      {"flags", 2, 56},
      {"position", 3, 0},
      {"other", 4, 0}}},
    {"signal_sent",
     ARGUS_ID_SIGNAL_SENT,
     {{"signal", 1, 0},
      {"thread", 2, 0},
      {"process", 2, 32},
      {"result", 3, 0},
      {"code", 3, 32},
      {"context", 4, 0}}},
    {"signal_delivered",
     ARGUS_ID_SIGNAL_DELIVERED,
     {{"signal", 1, 0}, {"handler", 2, 0}, {"code", 3, 0}}},
    {"ready",
     ARGUS_ID_READY,
     {{"fd", 1, 0},
      {"events", 1, 32},
      {"inode", 2, 0},
      {"peer", 3, 0},
      {"mode", 4, 0},
      {"family", 4, 16}}},
    {"mapping",
     ARGUS_ID_MAPPING,
     {{"address", 1, 0}, {"inode", 2, 0}, {"offset", 3, 0}, {"why", 4, 0}, {"device", 4, 32}}},
    {"file_lock",
     ARGUS_ID_FILE_LOCK,
     {{"inode", 1, 0},
      {"device", 2, 0},
      {"what", 2, 32},
      {"kind", 2, 40},
      {"flags", 2, 48},
      {"first", 3, 0},
      {"last", 4, 0}}},
    {"file_lock_name", ARGUS_ID_FILE_LOCK_NAME, {{0}}},
    {"open_end",
     ARGUS_ID_OPEN_END,
     {{"inode", 1, 0}, {"access", 2, 0}, {"fd", 3, 0}, {"mode", 4, 0}}},
    {"remote",
     ARGUS_ID_REMOTE,
     {{"inode", 1, 0},
      {"address", 2, 0},
      {"address_low", 3, 0},
      {"port", 4, 0},
      {"own_port", 4, 16},
      {"protocol", 4, 32},
      {"version", 4, 40}}},
    {"call_path", ARGUS_ID_CALL_PATH, {{0}}},
    {"file_name", ARGUS_ID_FILE_NAME, {{"inode", 1, 0}}},
    {"waiting",
     ARGUS_ID_WAITING,
     {{"call", 1, 0}, {"arg1", 2, 0}, {"arg2", 3, 0}, {"stack", 4, 0}}},
    {"memory_stall",
     ARGUS_ID_MEMORY_STALL,
     {{"why", 1, 0}, {"bytes", 1, 8}, {"length", 2, 0}, {"group", 3, 0}, {"limit", 4, 0}}},
    {"memory_group", ARGUS_ID_MEMORY_GROUP, {{0}}},
    {"memory_size",
     ARGUS_ID_MEMORY_SIZE,
     {{"pid", 1, 0}, {"own", 2, 0}, {"shared", 3, 0}, {"swapped", 4, 0}}},
    {"flag_shared",
     ARGUS_ID_FLAG_SHARED,
     {{"flag", 1, 0}, {"inode", 2, 0}, {"device", 3, 0}, {"offset", 4, 0}}},
    {"shared_memory",
     ARGUS_ID_SHARED_MEMORY,
     {{"start", 1, 0}, {"inode", 2, 0}, {"offset", 3, 0}, {"device", 4, 0}, {"pages", 4, 32}}},
    {"callback_queued",
     ARGUS_ID_CALLBACK_QUEUED,
     {{"key", 1, 0}, {"function", 2, 0}, {"probe", 3, 0}}},
    {"callback_cancelled", ARGUS_ID_CALLBACK_CANCELLED, {{"key", 1, 0}, {"probe", 3, 0}}},
    {"callback_start",
     ARGUS_ID_CALLBACK | ARGUS_FUNC_START,
     {{"key", 1, 0}, {"function", 2, 0}, {"probe", 3, 0}, {"sp", 4, 0}}},
    {"callback_end",
     ARGUS_ID_CALLBACK | ARGUS_FUNC_END,
     {{"key", 1, 0}, {"probe", 3, 0}, {"sp", 4, 0}}},
    {"ui_event", ARGUS_ID_UI_EVENT, {{"kind", 1, 0}, {"probe", 3, 0}, {"sp", 4, 0}}},
    {"handler", ARGUS_ID_HANDLER, {{"function", 1, 0}, {"other", 2, 0}, {"probe", 3, 0}}},
    {"hook", ARGUS_ID_HOOK, {{"key", 1, 0}, {"value", 2, 0}, {"probe", 3, 0}, {"other", 4, 0}}},
    {"flag_write",
     ARGUS_ID_FLAG_WRITE,
     {{"flag", 1, 0},
      {"value", 2, 0},
      {"pc", 3, 0},
      {"bytes", 3, 56},
      {"by", 3, 60},
      {"sequence", 4, 0}}},
    {"flag_read",
     ARGUS_ID_FLAG_READ,
     {{"flag", 1, 0},
      {"value", 2, 0},
      {"pc", 3, 0},
      {"bytes", 3, 56},
      {"by", 3, 60},
      {"sequence", 4, 0}}},
    /* Darwin's tracepoints that differ from Linux's (libargus/event/tracepoints_darwin.def) */
    {"mach_sched", 0x01400000, {{"reason", 1, 0}, {"next", 2, 0}}},
    {"mach_handoff", 0x01400008, {{"reason", 1, 0}, {"next", 2, 0}}},
    {"mach_block", 0x0140003c, {{"reason", 1, 0}, {"continuation", 2, 0}}},
    {"mach_dispatch", 0x01400080, {{"thread", 1, 0}, {"reason", 2, 0}, {"state", 3, 0}}},
    {"mach_idle_start", 0x01400025, {{"thread", 1, 0}}},
    {"mach_idle_end", 0x01400026, {{"thread", 1, 0}, {"next", 3, 0}}},
    {"mach_wake", 0x01400018, {{"thread", 1, 0}, {"priority", 2, 0}, {"result", 3, 0}}},
    {"timer_enter_start",
     0x0109001d,
     {{"timer", 1, 0}, {"function", 2, 0}, {"deadline", 3, 0}, {"flags", 4, 0}}},
    {"timer_enter_end", 0x0109001e, {{"timer", 1, 0}}},
    {"timer_cancel_start", 0x01090021, {{"timer", 1, 0}}},
    {"timer_cancel_end", 0x01090022, {{"timer", 1, 0}}},
    {"trap_start", 0x010c0001, {{"nr", IN_DEBUGID, 2}}},
    {"trap_end", 0x010c0002, {{"nr", IN_DEBUGID, 2}, {"result", 1, 0}}},
    {"mach_msg2_start",
     0x010c00bd,
     {{"address", 1, 0},
      {"options", 2, 0},
      {"bits", 3, 0},
      {"size", 3, 32},
      {"remote", 4, 0},
      {"local", 4, 32}}},
    {"mach_msg2_end", 0x010c00be, {{"result", 1, 0}}},
    {"msg_send", 0x0120000c, {{"message", 1, 0}, {"bits", 2, 0}, {"id", 3, 0}, {"voucher", 4, 0}}},
    {"kmsg_sent", 0x60100004, {{"message", 1, 0}, {"port", 2, 0}, {"bytes", 4, 0}, {"id", 4, 32}}},
    {"kmsg_received",
     0x6010000c,
     {{"message", 1, 0}, {"port", 2, 0}, {"bytes", 4, 0}, {"id", 4, 32}}},
    {"msg_recv", 0x01200010, {{"message", 1, 0}, {"bits", 2, 0}, {"id", 3, 0}, {"voucher", 4, 0}}},
    {"msg_recv_refused",
     0x01200014,
     {{"message", 1, 0}, {"bits", 2, 0}, {"id", 3, 0}, {"voucher", 4, 0}}},
    {"darwin_new_thread",
     0x07000004,
     {{"thread", 1, 0}, {"pid", 2, 0}, {"exec_copy", 3, 0}, {"unique", 4, 0}}},
    {"proc_exit_end", 0x04010006, {{"pid", 1, 0}, {"status", 2, 0}}},
    {"perf_event_start", 0x25000001, {{"actions", 1, 0}}},
    {"perf_event_end", 0x25000002, {{"actions", 1, 0}}},
    {"perf_thread", 0x25010004, {{"pid", 1, 0}, {"thread", 2, 0}}},
    {"perf_switch", 0x25010014, {{"thread", 1, 0}, {"pid", 2, 0}}},
    {"perf_user_stack", 0x25020018, {{"flags", 1, 0}, {"frames", 2, 0}, {"async", 4, 0}}},
    {"perf_user_frames", 0x25020010, {{0}}},
    {"perf_kernel_stack", 0x25020014, {{"flags", 1, 0}, {"frames", 2, 0}}},
    {"perf_kernel_frames", 0x2502000c, {{0}}},
    {"lazy_wait", 0x25090004, {{0}}},
    {"turnstile_waiter", 0x35100004, {{"turnstile", 1, 0}, {"thread", 2, 0}}},
    {"turnstile_holder", 0x3510001c, {{"thread", 1, 0}, {"turnstile", 2, 0}}},
    {"turnstile_freed", 0x35100020, {{"thread", 1, 0}, {"turnstile", 2, 0}}},
    {"dispatch_push", 0x2e05001c, {{"item", 1, 0}, {"function", 2, 0}}},
    {"dispatch_pop", 0x2e050024, {{"item", 1, 0}, {"function", 2, 0}}},
    {"dispatch_done", 0x2e05002c, {{"item", 1, 0}}},
    {"lost_events", 0x07020008, {{"in_trace", 1, 0}}},
    {"record", 0, {{"id", IN_DEBUGID, 0}}},
};

static const struct argument any_arguments[] = {
    {"arg1", 1, 0}, {"arg2", 2, 0}, {"arg3", 3, 0}, {"arg4", 4, 0}};

static const struct tracepoint *find_tracepoint(const struct line *line, const char *name)
{
    for (size_t i = 0; i < sizeof(tracepoints) / sizeof(*tracepoints); i++)
        if (strcmp(tracepoints[i].name, name) == 0)
            return &tracepoints[i];
    line_fail(line, "'%s' is not a tracepoint (mktrace_tracepoints.c)", name);
}

/* The argument whose name is the `length` bytes at `name`. */
static const struct argument *find_argument(const struct tracepoint *tracepoint, const char *name,
                                            size_t length)
{
    for (const struct argument *a = tracepoint->arguments; a->name; a++)
        if (strlen(a->name) == length && memcmp(a->name, name, length) == 0)
            return a;
    for (size_t i = 0; i < 4; i++)
        if (length == 4 && memcmp(any_arguments[i].name, name, length) == 0)
            return &any_arguments[i];
    return NULL;
}

static bool is_name_record(const struct tracepoint *tracepoint)
{
    return strncmp(tracepoint->name, "name_", 5) == 0 ||
           tracepoint->debugid == ARGUS_ID_CPU_GROUP ||
           tracepoint->debugid == ARGUS_ID_MEMORY_GROUP ||
           tracepoint->debugid == ARGUS_ID_FILE_LOCK_NAME ||
           tracepoint->debugid == ARGUS_ID_CALL_PATH;
}

static void parse_argument(const struct line *line, const struct tracepoint *tracepoint,
                           const char *word, struct argus_record *record)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        line_fail(line, "'%s' should be ARGUMENT=VALUE", word);
    if (is_name_record(tracepoint) && strncmp(word, "name=", 5) == 0) {
        memcpy(record->arg, equals + 1, strnlen(equals + 1, sizeof(record->arg)));
        return;
    }
    if (tracepoint->debugid == ARGUS_ID_FILE_NAME && strncmp(word, "name=", 5) == 0) {
        memcpy(&record->arg[1], equals + 1, strnlen(equals + 1, sizeof(record->arg[0]) * 3));
        return;
    }
    const struct argument *argument = find_argument(tracepoint, word, (size_t)(equals - word));
    if (!argument)
        line_fail(line, "%s has no argument '%.*s'", tracepoint->name, (int)(equals - word), word);
    uint64_t value = line_number(line, equals + 1) << argument->shift;
    if (argument->place == IN_DEBUGID)
        record->debugid |= (uint32_t)value;
    else
        record->arg[argument->place - 1] |= value;
}

void tracepoint_parse(const struct line *line, struct argus_record *record)
{
    const struct tracepoint *tracepoint = find_tracepoint(line, line->words[3]);
    record->debugid = tracepoint->debugid;
    for (size_t i = 4; i < line->count; i++)
        parse_argument(line, tracepoint, line->words[i], record);
}
