/* Puts a reason's numbers into its sentence: each word in braces has a row in fields[]. */
#include "report/reason_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compat.h"
#include "graph/text/object_name.h"
#include "report/device_words.h"
#include "report/phrases.h"
#include "report/reason_sentences.h"

#define MOST_WRITERS 3 /* functions that are named as writers of a variable */

/* What a field is made of, and where it goes. */
struct wording {
    const struct argus_report_context *context;
    struct view view;
    const struct argus_reason *reason;
    const struct argus_code_loop *loop; /* NULL: none */
    char *text;
    size_t bytes;
};

typedef void (*put_field)(struct wording *to);

static void put_sentence(struct wording *to, enum argus_reason_kind kind);

/* Appends. */
static void put(struct wording *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct wording *to, const char *format, ...)
{
    size_t length = strlen(to->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->text + length, to->bytes - length, format, arguments);
    va_end(arguments);
}

/* --- times and counts --- */

static void put_duration(struct wording *to, uint64_t ns)
{
    char text[32];
    put(to, "%s", text_duration(ns, text, sizeof(text)));
}

static void put_ns(struct wording *to)
{
    put_duration(to, to->reason->ns);
}

static void put_run(struct wording *to)
{
    put_duration(to, to->reason->run_ns);
}

static void put_wanted(struct wording *to)
{
    put_duration(to, to->reason->wanted_ns);
}

static void put_held(struct wording *to)
{
    put_duration(to, to->reason->held_ns);
}

static void put_whole(struct wording *to)
{
    put_duration(to, to->reason->whole_ns);
}

static void put_many(struct wording *to)
{
    put(to, "%s", to->reason->many ? " in many waits" : "");
}

static void put_count(struct wording *to)
{
    put(to, "%" PRIu64, to->reason->count);
}

static void put_device(struct wording *to)
{
    char text[96];
    put(to, "%s", text_device(&to->view, to->reason->vertex, text, sizeof(text)));
}

static void put_vertex(struct wording *to)
{
    put(to, "%" PRIu32, to->reason->vertex);
}

static void put_normal(struct wording *to)
{
    const struct argus_reason_normal *normal = &to->reason->normal;
    if (!normal->is_known)
        return;
    put(to, "; normally, as in v%" PRIu32 "%s, such a turn takes ", normal->vertex,
        normal->is_of_other_trace ? " of the other trace" : "");
    put_duration(to, normal->ns);
}

/* --- threads and their waits --- */

/* With its number if the other one of the sentence has the same name: a process and its child. */
static void put_name_of_thread(struct wording *to, uint32_t thread, uint32_t other)
{
    char text[128], other_text[128];
    put(to, "%s", text_thread(&to->view, thread, text, sizeof(text)));
    bool has_other = other != thread && other < to->view.thread_count;
    if (has_other &&
        strcmp(text, text_thread(&to->view, other, other_text, sizeof(other_text))) == 0)
        put(to, " [%" PRIu64 "]", to->view.threads[thread].tid);
}

static void put_thread(struct wording *to)
{
    put_name_of_thread(to, to->reason->thread, to->reason->waiter);
}

static void put_waiter(struct wording *to)
{
    put_name_of_thread(to, to->reason->waiter, to->reason->thread);
}

static void put_process(struct wording *to)
{
    char text[128];
    put(to, "%s", text_process_of(&to->view, to->reason->thread, text, sizeof(text)));
}

static void put_child(struct wording *to)
{
    char text[128];
    put(to, "%s", text_process_of(&to->view, to->reason->other, text, sizeof(text)));
}

static void put_wait(struct wording *to)
{
    char text[400];
    argus_wait_text(to->view.graph, to->reason->vertex, text, sizeof(text));
    put(to, "%s", text);
}

static void put_callers(struct wording *to)
{
    char text[300];
    uint32_t vertex = to->reason->vertex;
    put(to, "%s",
        text_callers(&to->view, to->context->symbols, vertex,
                     to->view.vertices[vertex].wait.user_stack, text, sizeof(text)));
}

/* The call with which a loop polls. A loop of sched_yield() is inside of its vertex. */
static void put_poll(struct wording *to)
{
    const struct argus_vertex *vertex = &to->view.vertices[to->reason->vertex];
    if (vertex->flags & ARGUS_VERTEX_YIELDS || !vertex->yield_calls)
        put_wait(to);
    else
        put(to, "sched_yield");
}

/* ", in wait_for_data": the function that polls. */
static void put_place(struct wording *to)
{
    char text[128];
    const char *name = text_function(&to->view, to->context->symbols, to->reason->vertex,
                                     to->reason->stack, text, sizeof(text));
    put(to, "%s%s", name ? ", in " : "", name ? name : "");
}

static void put_tries(struct wording *to)
{
    char text[400];
    const struct argus_reason *reason = to->reason;
    const char *tries =
        text_lock_tries(&to->view, to->view.vertices[reason->vertex].thread, reason->from_ns,
                        reason->from_ns + reason->ns, text, sizeof(text));
    put(to, "%s", tries ? tries : "tried to get the lock");
}

static void put_remote(struct wording *to)
{
    char text[80];
    put(to, "%s", text_remote(&to->view, to->reason->remote, text, sizeof(text)));
}

static void put_trace(struct wording *to)
{
    put(to, "%s", argus_trace_name(argus_graph_trace(to->view.graph)));
}

/* --- flags --- */

static void put_name(struct wording *to)
{
    put(to, "%s", to->reason->name ? to->reason->name : "the data flag");
}

static void put_changing(struct wording *to)
{
    put(to, "%s", to->reason->write.is_turn ? "changing" : "setting");
}

static void put_changed(struct wording *to)
{
    put(to, "%s", to->reason->write.is_turn ? "changed" : "set");
}

static void put_last(struct wording *to)
{
    const struct argus_reason_write *write = &to->reason->write;
    if (!write->is_known)
        return;
    put(to, "; it was last %s ", write->is_turn ? "changed" : "set");
    put_duration(to, write->ago_ns);
    put(to, " %s%s%s", write->is_within ? "after the loop had begun" : "before the loop",
        write->place ? ", in " : "", write->place ? write->place : "");
}

/* --- what the code of a loop tells --- */

static void put_loop(struct wording *to)
{
    put(to, "%s", to->loop ? to->loop->place : "");
}

/* "did_reconfigure"; "settings+0x4060" where there are no symbols. */
static void put_variables(struct wording *to)
{
    for (size_t i = 0; to->loop && i < to->loop->variable_count; i++) {
        const struct argus_loop_variable *variable = &to->loop->variables[i];
        bool is_address = variable->name[0] == '0';
        put(to, "%s%s%s%s%s", i ? " or " : "", variable->is_lock ? "the lock " : "",
            is_address ? variable->image : "", is_address ? "+" : "", variable->name);
    }
}

/* What ends the loop of the variables. */
static void put_change(struct wording *to)
{
    bool is_lock = to->loop && to->loop->variable_count;
    for (size_t i = 0; is_lock && i < to->loop->variable_count; i++)
        is_lock = to->loop->variables[i].is_lock;
    put(to, "%s", is_lock ? "is free" : "changes");
}

static void put_otherwise(struct wording *to)
{
    put(to, "%s",
        to->loop && !to->loop->is_whole ? ", or by something that the code does not tell" : "");
}

/* Of several variables that only the loop itself leads to, one command watches the likeliest. */
static bool is_command_told(const struct argus_code_loop *loop, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(loop->variables[i].command, loop->variables[index].command) == 0)
            return true;
    return false;
}

/* In quotes. */
static void put_commands(struct wording *to)
{
    bool has_one = false;
    for (size_t i = 0; to->loop && i < to->loop->variable_count; i++) {
        const char *command = to->loop->variables[i].command;
        const char *quote = strchr(command, '\'') ? "\"" : "'";
        if (!command[0] || is_command_told(to->loop, i))
            continue;
        put(to, "%s%s%s%s", has_one ? " and " : "", quote, command, quote);
        has_one = true;
    }
}

/* ", the handler of SIGINT and SIGTERM," */
static void put_signals(struct wording *to, uint64_t signals)
{
    bool is_first = true;
    for (unsigned n = 1; signals; n++, signals >>= 1) {
        const char *name = signals & 1 ? sigabbrev_np((int)n) : NULL;
        if (!(signals & 1))
            continue;
        put(to, "%s", is_first ? ", the handler of " : signals == 1 ? " and " : ", ");
        if (name)
            put(to, "SIG%s", name);
        else
            put(to, "signal %u", n);
        is_first = false;
    }
    put(to, "%s", is_first ? "" : ",");
}

/* "on_reconfigured (settings.c:29) of settingsd [12]" */
static void put_writer(struct wording *to, const char *before,
                       const struct argus_flag_writer *writer)
{
    put(to, "%s%s", before, writer->place);
    if (writer->process != ARGUS_NONE)
        put(to, " of %s [%" PRIu64 "]", to->view.processes[writer->process].name,
            to->view.processes[writer->process].pid);
    put_signals(to, writer->signals);
}

/* "on_reconfigured (settings.c:29), reset (settings.c:31) or 2 other functions"; a verb follows. */
static void put_functions_of(struct wording *to, const struct argus_loop_variable *variable)
{
    size_t count = variable->writer_count;
    size_t named = count > MOST_WRITERS ? MOST_WRITERS - 1 : count;
    for (size_t i = 0; i < named; i++) {
        bool has_comma = i > 0 && variable->writers[i - 1].signals;
        const char *between = i + 1 == count ? " or " : has_comma ? " " : ", ";
        put_writer(to, i == 0 ? "" : between, &variable->writers[i]);
    }
    if (named < count)
        put(to, " or %zu other functions", count - named);
    if (variable->has_more_writers)
        put(to, ", among others,");
}

static void put_functions(struct wording *to)
{
    if (to->loop && to->loop->variable_count)
        put_functions_of(to, &to->loop->variables[0]);
}

/* Whether the threads that were seen in the code had ended when the loop did. */
static bool have_ended(const struct wording *to, const struct argus_loop_variable *variable)
{
    uint32_t loop = to->reason->vertex;
    if (to->reason->kind != ARGUS_REASON_POLLED || loop >= to->view.vertex_count)
        return false;
    for (size_t i = 0; i < variable->thread_count; i++)
        if (to->view.threads[variable->threads[i]].end_ns >= to->view.vertices[loop].end_ns)
            return false;
    return true;
}

/* "; on_reconfigured (settings.c:29) may set it": "may", since it may
 * be a writer that is not meant for this loop, or another one may be that the code does not show.
 */
static void put_writers(struct wording *to)
{
    for (size_t i = 0; to->loop && i < to->loop->variable_count; i++) {
        const struct argus_loop_variable *variable = &to->loop->variables[i];
        if (!variable->writer_count)
            continue;
        put(to, "; ");
        put_functions_of(to, variable);
        put(to, " may %s %s", variable->is_lock ? "free" : "set",
            to->loop->variable_count > 1 ? variable->name : "it");
        if (!variable->thread_count)
            continue;
        bool are_gone = have_ended(to, variable);
        if (variable->thread_count == 1) {
            put(to, " (of the other threads, only ");
            put_name_of_thread(to, variable->threads[0], to->reason->waiter);
            put(to, " was seen in that code%s)", are_gone ? ", which has ended" : "");
        } else {
            put(to, " (%zu other threads were seen in that code%s)", variable->thread_count,
                are_gone ? ", and have ended" : "");
        }
    }
}

/* --- users of a CPU --- */

/* "hog [12] and 2 more". */
static void put_program(struct wording *to, const struct argus_reason_user *user)
{
    char text[128];
    put(to, "%s", text_process_of(&to->view, user->thread, text, sizeof(text)));
    if (user->count > 1)
        put(to, " and %" PRIu32 " more", user->count - 1);
}

static void put_user(struct wording *to)
{
    put_program(to, &to->reason->users[0]);
}

static void put_percent(struct wording *to)
{
    put(to, "%" PRIu32, to->reason->users[0].percent);
}

/* ", at real-time priority 50", if it is not the priority of the thread that waited. */
static void put_priority_of(struct wording *to, int32_t priority)
{
    int32_t own = to->reason->cpu.priority;
    if (priority == ARGUS_PRIORITY_NONE || priority == own)
        return;
    if (priority < 0)
        put(to, ", with a deadline");
    else if (priority < ARGUS_PRIORITY_USUAL)
        put(to, ", at real-time priority %d", ARGUS_PRIORITY_USUAL - 1 - priority);
    else if (own >= ARGUS_PRIORITY_USUAL)
        put(to, ", at nice %d, not %d", priority - ARGUS_PRIORITY_NICE0,
            own - ARGUS_PRIORITY_NICE0);
}

static void put_priority(struct wording *to)
{
    put_priority_of(to, to->reason->users[0].priority);
}

/* "hog [12] (62 %, at real-time priority 50), sh [13] (20 %)". */
static void put_users(struct wording *to)
{
    for (size_t i = 0; i < to->reason->user_count; i++) {
        const struct argus_reason_user *user = &to->reason->users[i];
        put(to, "%s", i ? ", " : "");
        put_program(to, user);
        put(to, " (%" PRIu32 " %%", user->percent);
        put_priority_of(to, user->priority);
        put(to, ")");
    }
}

/* "cpu 1 (the only one that it may use)". */
static void put_cpus(struct wording *to)
{
    const struct argus_reason_cpu *cpu = &to->reason->cpu;
    int allowed = __builtin_popcountll(cpu->cpus);
    if (allowed == 1)
        put(to, "cpu %d (the only one that it may use)", __builtin_ctzll(cpu->cpus));
    else if (allowed > 1)
        put(to, "the %d cpus that it may use", allowed);
    else if (cpu->seen_before)
        put(to, "cpu %" PRIu32 " (where it ran before)", cpu->seen_cpu);
    else if (cpu->seen_count == 1)
        put(to, "cpu %" PRIu32 " (in whose queue it was)", cpu->seen_cpu);
    else
        put(to, "the %" PRIu32 " cpus in whose queues it was", cpu->seen_count);
}

static void put_group(struct wording *to)
{
    const struct argus_reason_cpu *cpu = &to->reason->cpu;
    char quota[32], period[32];
    text_duration(cpu->quota_ns, quota, sizeof(quota));
    text_duration(cpu->period_ns, period, sizeof(period));
    if (cpu->group_name[0])
        put(to, "%s (%s of cpu in each %s)", cpu->group_name, quota, period);
    else
        put(to, "with inode %" PRIu64 " (%s of cpu in each %s)", cpu->group, quota, period);
}

/* --- users of a disk --- */

static void put_bytes_of(struct wording *to, uint64_t bytes)
{
    if (bytes >= 10000000)
        put(to, "%" PRIu64 " MB", (bytes + 500000) / 1000000);
    else
        put(to, "%" PRIu64 " kB", (bytes + 500) / 1000);
}

static void put_bytes(struct wording *to)
{
    put_bytes_of(to, to->reason->users[0].bytes);
}

static void put_transfers(struct wording *to)
{
    put(to, "%s", to->reason->users[0].writes ? "writes" : "reads");
}

/* " of /var/big"; "" without a file: direct I/O, a journal, metadata. */
static void put_file_of(struct wording *to, const struct argus_reason_user *user)
{
    const char *path = file_path_of(to->view.graph, user->inode, user->thread);
    if (path)
        put(to, " of %s", path);
    else if (user->inode)
        put(to, " of the file with inode %" PRIu64, user->inode);
}

static void put_file(struct wording *to)
{
    put_file_of(to, &to->reason->users[0]);
}

/* "95 % writes of /var/big by dd [12] (312 MB)", … */
static void put_disk_users(struct wording *to)
{
    for (size_t i = 0; i < to->reason->user_count; i++) {
        const struct argus_reason_user *user = &to->reason->users[i];
        put(to, "%s%" PRIu32 " %% %s", i ? ", " : "", user->percent,
            user->writes ? "writes" : "reads");
        put_file_of(to, user);
        put(to, " by ");
        if (user->thread != ARGUS_NONE)
            put_program(to, user);
        else
            put(to, "an unknown thread [0]");
        put(to, " (");
        put_bytes_of(to, user->bytes);
        put(to, ")");
    }
}

/* --- sentences --- */

static void put_because(struct wording *to)
{
    put_sentence(to, (enum argus_reason_kind)to->reason->because);
}

static void put_more(struct wording *to)
{
    put_sentence(to, (enum argus_reason_kind)to->reason->more);
}

static const struct {
    const char *name;
    put_field put;
} fields[] = {
    {"because", put_because}, {"bytes", put_bytes},
    {"callers", put_callers}, {"change", put_change},
    {"changed", put_changed}, {"changing", put_changing},
    {"child", put_child},     {"commands", put_commands},
    {"count", put_count},     {"cpus", put_cpus},
    {"device", put_device},   {"disk users", put_disk_users},
    {"file", put_file},       {"functions", put_functions},
    {"group", put_group},     {"held", put_held},
    {"last", put_last},       {"loop", put_loop},
    {"many", put_many},       {"more", put_more},
    {"name", put_name},       {"normal", put_normal},
    {"ns", put_ns},           {"otherwise", put_otherwise},
    {"percent", put_percent}, {"place", put_place},
    {"poll", put_poll},       {"priority", put_priority},
    {"process", put_process}, {"remote", put_remote},
    {"run", put_run},         {"thread", put_thread},
    {"trace", put_trace},     {"transfers", put_transfers},
    {"tries", put_tries},     {"user", put_user},
    {"users", put_users},     {"variables", put_variables},
    {"vertex", put_vertex},   {"wait", put_wait},
    {"waiter", put_waiter},   {"wanted", put_wanted},
    {"whole", put_whole},     {"writers", put_writers},
};

/* NULL: there is no such field. */
static put_field find_field(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strlen(fields[i].name) == length && strncmp(fields[i].name, name, length) == 0)
            return fields[i].put;
    return NULL;
}

bool reason_has_field(const char *name, size_t length)
{
    return find_field(name, length) != NULL;
}

static void put_sentence(struct wording *to, enum argus_reason_kind kind)
{
    const char *at = reason_sentence(kind), *brace;
    while ((brace = strchr(at, '{')) != NULL) {
        const char *end = strchr(brace, '}');
        put_field field = find_field(brace + 1, (size_t)(end - brace - 1));
        put(to, "%.*s", (int)(brace - at), at);
        if (field)
            field(to);
        at = end + 1;
    }
    put(to, "%s", at);
}

const char *reason_text(const struct argus_report_context *context,
                        const struct argus_reason *reason, const struct argus_code_loop *loop,
                        char *buffer, size_t bytes)
{
    struct wording to = {.context = context,
                         .view = view_of(context->graph),
                         .reason = reason,
                         .loop = reason->loop ? reason->loop : loop,
                         .text = buffer,
                         .bytes = bytes};
    buffer[0] = '\0';
    put_sentence(&to, (enum argus_reason_kind)reason->kind);
    return buffer;
}
