#include "event/tracepoints.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "event/darwin/darwin_text.h"

const struct tracepoint tracepoints[TRACEPOINT_COUNT] = {
#define TRACEPOINT(symbol, debugid, name, paired, ...)                                             \
    [TRACEPOINT_##symbol] = {name, debugid, paired, {__VA_ARGS__}},
#include "event/tracepoints.def"
#undef TRACEPOINT
};

/* "x_start", "x_end" for the paired tracepoints: the same rows again. */
static const char *const paired_names[TRACEPOINT_COUNT][2] = {
#define TRACEPOINT(symbol, debugid, name, paired, ...)                                             \
    [TRACEPOINT_##symbol] = {name "_start", name "_end"},
#include "event/tracepoints.def"
#undef TRACEPOINT
};

const struct tracepoint *tracepoint_find(uint32_t debugid)
{
    if (tracepoint_is_syscall(debugid))
        return &tracepoints[TRACEPOINT_syscall];
    for (size_t i = 0; i < TRACEPOINT_COUNT; i++)
        if (tracepoints[i].debugid == ARGUS_DEBUGID_EVENT(debugid))
            return &tracepoints[i];
    return NULL;
}

const char *argus_tracepoint_name(uint32_t debugid)
{
    const struct tracepoint *row = tracepoint_find(debugid);
    if (!row)
        return NULL;
    uint32_t func = ARGUS_DEBUGID_FUNC(debugid);
    if (row->paired && (func == ARGUS_FUNC_START || func == ARGUS_FUNC_END))
        return paired_names[row - tracepoints][func == ARGUS_FUNC_END];
    return row->name;
}

void tracepoint_name_bytes(const struct argus_record *record, char ret[33])
{
    memcpy(ret, record->arg, 32);
    ret[32] = 0;
    utf8_repair_name(ret, strlen(ret));
}

static void add_arguments(struct text *text, const struct tracepoint *row,
                          const struct argus_record *record)
{
    for (int i = 0; i < 4; i++) {
        const char *name = row->arg[i];
        if (name[0] == '#')
            text_add(text, " %s=0x%" PRIx64, name + 1, record->arg[i]);
        else if (name[0])
            text_add(text, " %s=%" PRIu64, name, record->arg[i]);
    }
}

static void add_syscall(struct text *text, const struct argus_record *record)
{
    text_add(text, " nr=%u", ARGUS_DEBUGID_CODE(record->debugid));
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END)
        text_add(text, " error=%" PRIu64 " result=%" PRId64 " pid=%" PRIu64, record->arg[0],
                 (int64_t)record->arg[1], record->arg[3]);
    else
        text_add(text, " arg1=0x%" PRIx64 " arg2=0x%" PRIx64 " arg3=0x%" PRIx64 " arg4=0x%" PRIx64,
                 record->arg[0], record->arg[1], record->arg[2], record->arg[3]);
}

static void add_name(struct text *text, const struct argus_record *record)
{
    char name[33];
    tracepoint_name_bytes(record, name);
    text_add(text, " name=%s", name);
}

static const char *darwin_text(const struct argus_record *record, struct text *text)
{
    const struct darwin_tracepoint *row = darwin_tracepoint_find(record->debugid);
    if (row)
        text_add(text, "%s", row->name);
    else
        text_add(text, "0x%08" PRIx32, record->debugid);
    if (text->length < text->bytes)
        darwin_record_arguments(record, text->buffer + text->length, text->bytes - text->length);
    return text->buffer;
}

/* Class 0x60 on Darwin: Argus's own records, or those of a patched kernel. */
static bool row_is_argus(uint32_t debugid)
{
    return ARGUS_DEBUGID_CLASS(debugid) == ARGUS_CLASS && !darwin_tracepoint_find(debugid);
}

/* Whether the arguments of such a record are text. */
static bool is_text(uint32_t debugid)
{
    return debugid >> 16 == ARGUS_ID_NAME_NEW >> 16 || debugid == ARGUS_ID_CPU_GROUP ||
           debugid == ARGUS_ID_MEMORY_GROUP || debugid == ARGUS_ID_FILE_LOCK_NAME ||
           debugid == ARGUS_ID_CALL_PATH;
}

static void add_file_name(struct text *text, const struct argus_record *record)
{
    char piece[sizeof(record->arg[0]) * 3 + 1] = "";
    memcpy(piece, &record->arg[1], sizeof(piece) - 1);
    utf8_repair_name(piece, strlen(piece));
    text_add(text, " inode=%" PRIu64 " name=%s", record->arg[0], piece);
}

const char *argus_record_text(const struct argus_record *record, enum argus_os os, char *buffer,
                              size_t buffer_bytes)
{
    struct text text = {.buffer = buffer, .bytes = buffer_bytes};
    const struct tracepoint *row = tracepoint_find(record->debugid);
    if (os == ARGUS_OS_DARWIN && !row_is_argus(record->debugid))
        return darwin_text(record, &text);
    const char *name = argus_tracepoint_name(record->debugid);

    if (buffer_bytes)
        buffer[0] = 0;
    if (name)
        text_add(&text, "%s", name);
    else
        text_add(&text, "0x%08" PRIx32, record->debugid);

    if (row == &tracepoints[TRACEPOINT_syscall])
        add_syscall(&text, record);
    else if (row && is_text(row->debugid))
        add_name(&text, record);
    else if (row == &tracepoints[TRACEPOINT_file_name])
        add_file_name(&text, record);
    else if (row)
        add_arguments(&text, row, record);
    else
        for (int i = 0; i < 4; i++)
            text_add(&text, " arg%d=0x%" PRIx64, i + 1, record->arg[i]);
    return buffer;
}
