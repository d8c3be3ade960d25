/* Names of tracepoints contained in a file, for tracepoints that Argus does not know. They are
 * lines such as "0x140000c MACH_CALLCONT", as in /usr/share/misc/trace.codes; they do not tell what
 * the arguments mean. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/kdebug.h"

static int by_id(const void *left, const void *right)
{
    const struct trace_code *a = left, *b = right;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Anything else is a comment. */
static struct argus_error *add_line(struct argus_trace *trace, char *line)
{
    char *end;
    unsigned long event = strtoul(line, &end, 16);
    uint32_t id;
    if (strncmp(line, "0x", 2) != 0 || event > UINT32_MAX || (*end != ' ' && *end != '\t'))
        return NULL;
    char *name = end + strspn(end, " \t");
    name[strcspn(name, " \t\r")] = 0;
    if (!*name || strlen(name) > 100)
        return NULL;
    for (char *c = name; *c; c++) /* names are printed, also inside quotation marks */
        if ((unsigned char)*c <= 0x20 || *c == 0x7f || *c == '"' || *c == '\\')
            *c = '?';
    utf8_repair_name(name, strlen(name));
    struct argus_error *error = strtab_intern(trace->strings, name, strlen(name), &id);
    struct trace_code code = {.event = ARGUS_DEBUGID_EVENT((uint32_t)event)};
    if (error)
        return error;
    code.name = strtab_get(trace->strings, id);
    return vec_push(&trace->codes, code) ? NULL : argus_error_memory();
}

struct argus_error *kdebug_codes_read(const struct kdebug_file *file, uint64_t offset_bytes,
                                      uint64_t length_bytes)
{
    struct argus_trace *trace = file->trace;
    char *text = calloc(1, (size_t)length_bytes + 1), *next = NULL;
    struct argus_error *error =
        text ? kdebug_get(file, text, (size_t)length_bytes, offset_bytes) : argus_error_memory();
    for (size_t i = 0; !error && i < length_bytes; i++) /* a zero byte ends a line */
        text[i] = text[i] ? text[i] : '\n';
    for (char *line = error ? NULL : strtok_r(text, "\n", &next); line && !error;
         line = strtok_r(NULL, "\n", &next))
        error = add_line(trace, line);
    free(text);
    if (!error && trace->codes.length)
        qsort(trace->codes.data, trace->codes.length, sizeof(*trace->codes.data), by_id);
    return error;
}

const char *argus_trace_code_name(const struct argus_trace *trace, uint32_t debugid)
{
    const struct trace_code wanted = {.event = ARGUS_DEBUGID_EVENT(debugid)};
    const struct trace_code *found =
        trace->codes.length
            ? bsearch(&wanted, trace->codes.data, trace->codes.length, sizeof(wanted), by_id)
            : NULL;
    return found ? found->name : NULL;
}
