/* The text of ftrace: /sys/kernel/tracing/trace, trace-cmd report, and old systrace pages in part.
 *
 *     # tracer: nop
 *               bash-1994    [001] d.h2.   172.120001: sched_waking: comm=sshd pid=12 prio=120 target_cpu=000
 *
 * A column (PROCESS) may stand behind the thread, and the flags may be missing. The kernel's own
 * texts give most fields as name=value; those of sched_switch and raw_syscalls have forms of their
 * own. Documentation/trace/ftrace.rst.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "ftrace_text.h"

enum { MOST_FIELDS = 24 };

/* One line, cut into its parts; all texts point into `line`. */
struct text_event {
    const char *names[MOST_FIELDS], *values[MOST_FIELDS];
    size_t count;
    uint64_t arguments[6];
    unsigned argument_count;
};

static const char *value_of(const struct text_event *event, const char *name)
{
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->names[i], name) == 0)
            return event->values[i];
    return NULL;
}

/* The letters of a state as the kernel prints them: "R", "R+" (preempted), "S", "D", "S|D" … */
static bool state_number(const char *letters, uint64_t *ret)
{
    static const char all[] = "RSDTtXZPI";
    const char *place = *letters ? strchr(all, *letters) : NULL;
    if (!place)
        return false;
    size_t index = (size_t)(place - all);
    *ret = strchr(letters, '+') ? 0x100 : index ? 1ull << (index - 1) : 0;
    return true;
}

static bool number(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    const char *text = value_of(event->source, name);
    char *end;
    if (!text)
        return false;
    if (strcmp(name, "prev_state") == 0 && state_number(text, ret))
        return true;
    /* numbers are decimal or 0x…; the kernel prints pointers without 0x */
    bool is_pointer = strcmp(name, "hrtimer") == 0 || strcmp(name, "work") == 0;
    *ret = strtoull(text, &end, is_pointer ? 16 : 0);
    if (*text == '-')
        *ret = (uint64_t)strtoll(text, &end, 0);
    return end != text;
}

static const char *text(const struct foreign_event *event, const char *name)
{
    return value_of(event->source, name);
}

static bool argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    const struct text_event *source = event->source;
    if (index >= source->argument_count)
        return false;
    *ret = source->arguments[index];
    return true;
}

static const struct foreign_fields fields = {number, text, argument};

static void add(struct text_event *event, const char *name, const char *value)
{
    if (event->count == MOST_FIELDS)
        return;
    event->names[event->count] = name;
    event->values[event->count++] = value;
}

/* The '=' of the next "name=value" from `at` on; NULL: none. */
static char *next_equals(char *at)
{
    for (char *equals = strchr(at, '='); equals; equals = strchr(equals + 1, '='))
        if (equals > at && (isalnum((unsigned char)equals[-1]) || equals[-1] == '_'))
            return equals;
    return NULL;
}

static char *name_before(char *start, char *equals)
{
    char *name = equals;
    while (name > start && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    return name;
}

/* Cuts "a=1 b=some text c=3" at the names. Values may contain blanks. */
static void read_fields(char *body, struct text_event *ret)
{
    char *equals = next_equals(body);
    while (equals) {
        char *name = name_before(body, equals);
        char *next = next_equals(equals + 1);
        char *end = next ? name_before(equals + 1, next) : equals + strlen(equals);
        while (end > equals + 1 && (isspace((unsigned char)end[-1]) || end[-1] == '>'))
            end--;
        if (end > equals + 2 && end[-1] == '=' && end[-2] == '=') /* "==>" */
            end -= 2;
        while (end > equals + 1 && isspace((unsigned char)end[-1]))
            end--;
        char *from = equals + 1;
        *equals = '\0';
        *end = '\0';
        add(ret, name, from);
        body = end;
        equals = next;
    }
}

/* raw_syscalls: "NR 232 (5, 7ffc, …)" and "NR 232 = 1". Then `ret_nr` is its text. */
static bool read_call(char *body, struct text_event *ret)
{
    if (strncmp(body, "NR ", 3) != 0)
        return false;
    add(ret, "id", body + 3);
    char *at = body + 3 + strspn(body + 3, "-0123456789");
    char *equals = strchr(at, '=');
    char *list = strchr(at, '(');
    if (!list && equals)
        add(ret, "ret", equals + 1 + strspn(equals + 1, " "));
    while (list && ret->argument_count < 6) {
        char *end;
        ret->arguments[ret->argument_count] = strtoull(list + 1, &end, 16);
        if (end == list + 1)
            break;
        ret->argument_count++;
        list = *end == ',' ? end : NULL;
    }
    *at = '\0';
    return true;
}

/* syscalls:sys_enter_X and sys_exit_X: the kernel prints "sys_X(fd: 3, buf: 7f…, count: 400)" and
 * "sys_X -> 0x1", trace-cmd prints "sys_enter_X: fd: 0x3, …" and "sys_exit_X: 0x1". */
static void read_named_call(char *body, struct text_event *ret)
{
    bool is_arrow = strncmp(body, "->", 2) == 0;
    if (is_arrow || strncmp(body, "0x", 2) == 0) {
        body += is_arrow ? 2 : 0;
        add(ret, "ret", body + strspn(body, " "));
        return;
    }
    for (char *colon = strchr(body, ':'); colon && ret->argument_count < 6;
         colon = strchr(colon + 1, ':'))
        ret->arguments[ret->argument_count++] = strtoull(colon + 1, NULL, 16);
}

/* signal_generate: "sig=17 errno=0 code=1 comm=bash pid=3 grp=1 res=0" */
static void rename_fields(struct text_event *event)
{
    static const char *const renamed[][2] = {{"grp", "group"}, {"res", "result"}};
    for (size_t i = 0; i < event->count; i++)
        for (size_t k = 0; k < sizeof(renamed) / sizeof(*renamed); k++)
            if (strcmp(event->names[i], renamed[k][0]) == 0)
                event->names[i] = renamed[k][1];
}

/* The flags column, e.g. "d.h2.": the third sign tells hard and soft interrupts. */
static uint32_t context_of(const char *flags, size_t length)
{
    if (length < 4)
        return ARGUS_CONTEXT_UNKNOWN;
    return strchr("hHzZ", flags[2]) ? ARGUS_CONTEXT_HARDIRQ
           : flags[2] == 's'        ? ARGUS_CONTEXT_SOFTIRQ
                                    : ARGUS_CONTEXT_TASK;
}

/* "172.120001" as ns. */
static bool read_time(const char *text, uint64_t *ret_ns)
{
    char *end;
    uint64_t seconds = strtoull(text, &end, 10), part = 0;
    if (*end != '.' || end == text)
        return false;
    uint64_t unit = 100000000;
    for (end++; isdigit((unsigned char)*end); end++, unit /= 10)
        part += (uint64_t)(*end - '0') * unit;
    *ret_ns = seconds * 1000000000 + part;
    return true;
}

/* Everything in front of the event's name. `*ret_rest` is that name; false: no line of an event. */
static bool read_head(char *line, struct sink *sink, struct foreign_event *ret, char **ret_rest)
{
    char *cpu = strchr(line, '[');
    while (cpu &&
           !(isdigit((unsigned char)cpu[1]) && cpu > line && isspace((unsigned char)cpu[-1])))
        cpu = strchr(cpu + 1, '[');
    char *closing = cpu ? strchr(cpu, ']') : NULL;
    char *colon = closing ? strstr(closing, ": ") : NULL;
    if (!colon)
        return false;
    char *time = colon;
    while (time > closing && (isdigit((unsigned char)time[-1]) || time[-1] == '.'))
        time--;
    char *flags = closing + 1 + strspn(closing + 1, " ");
    unsigned long number = strtoul(cpu + 1, NULL, 10);
    if (number >= 65536) /* no line of an event; the sink takes no such CPU */
        return false;
    ret->cpu = (uint32_t)number;
    ret->context = context_of(flags, flags < time ? strcspn(flags, " ") : 0);
    /* "name-tid" with blanks around, and perhaps "(pid)" behind it */
    *cpu = '\0';
    char *process = strrchr(line, '(');
    char *dash = NULL;
    for (char *at = line; (at = strchr(at, '-')); at++)
        if (isdigit((unsigned char)at[1]) && at > line)
            dash = at;
    if (!dash || !read_time(time, &ret->time_ns))
        return false;
    *dash = '\0';
    ret->tid = strtoull(dash + 1, NULL, 10);
    char *name = line + strspn(line, " ");
    sink_thread(sink, ret->tid, process && process > dash ? strtoull(process + 1, NULL, 10) : 0, 0,
                name[0] == '<' ? NULL : name, false);
    *ret_rest = colon + 2 + strspn(colon + 2, " ");
    return true;
}

static bool take_line(struct kernel_events *events, struct sink *sink, char *line)
{
    struct text_event source = {.count = 0};
    struct foreign_event event = {.fields = &fields, .source = &source};
    char *rest;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '#' || !read_head(line, sink, &event, &rest))
        return false;
    char *body = rest + strcspn(rest, ": (");
    if (!*body)
        return false;
    bool is_named_call = *body == '(';
    if (!is_named_call)
        *body++ = '\0';
    body += is_named_call ? 0 : strspn(body, " ");
    bool is_call = strncmp(rest, "sys_", 4) == 0;
    event.name = is_call && strncmp(body, "->", 2) == 0 ? "exit_syscall" : rest;
    if (is_named_call) { /* "sys_read(fd: 3, …)": the name ends at the bracket */
        *body++ = '\0';
        read_named_call(body, &source);
    } else if (is_call && !read_call(body, &source)) {
        read_named_call(body, &source);
    } else if (source.count == 0) {
        read_fields(body, &source);
    }
    rename_fields(&source);
    kernel_events_take(events, &event);
    return true;
}

/* Lines such as "CPU:1 [LOST 345 EVENTS]", and in the head, where no CPU is named, "#
 * entries-in-buffer/entries-written: 120/465   #P:2". */
static bool take_loss(struct sink *sink, const char *line, uint64_t time_ns)
{
    unsigned cpu = 0;
    uint64_t count, written;
    if (sscanf(line, "# entries-in-buffer/entries-written: %" SCNu64 "/%" SCNu64, &count,
               &written) == 2)
        count = written > count ? written - count : 0;
    else if (sscanf(line, "CPU:%u [LOST %" SCNu64 " EVENTS]", &cpu, &count) != 2)
        return false;
    sink_lost(sink, cpu, time_ns, count);
    return true;
}

bool ftrace_text_take_line(struct kernel_events *events, struct sink *sink, char *line)
{
    return !take_loss(sink, line, sink_last_ns(sink)) && take_line(events, sink, line);
}

static bool matches(const char *path, const unsigned char *bytes, size_t length)
{
    static const char *const signs[] = {
        "\n# tracer: ", "sched_switch: ", "sched_waking: ", "sched_wakeup: ", "sys_enter: NR "};
    char text[1 + 4096 + 1] = {'\n'}, *beginning = text + 1;
    (void)path;
    memcpy(beginning, bytes, length < 4096 ? length : 4096);
    if (strlen(beginning) != (length < 4096 ? length : 4096))
        return false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (strstr(text, signs[i]))
            return true;
    return false;
}

static struct argus_error *read_file(const char *path, struct sink *sink)
{
    FILE *file = fopen(path, "re");
    struct kernel_events *events = kernel_events_create(sink);
    char *line = NULL;
    size_t room = 0;
    if (file && events)
        while (getline(&line, &room, file) > 0 && !sink_failed(sink))
            ftrace_text_take_line(events, sink, line);
    if (events)
        kernel_events_note_gaps(events);
    free(line);
    kernel_events_destroy(events);
    if (!file)
        return argus_error_create(ARGUS_ERROR_IO, "it cannot be opened");
    fclose(file);
    return events ? NULL : argus_error_memory();
}

const struct format format_ftrace_text = {"ftrace text", matches, read_file, false};
