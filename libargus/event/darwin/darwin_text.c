#include "event/darwin/darwin_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "event/darwin/darwin.h"

static const struct darwin_tracepoint rows[] = {
#define DARWIN(debugid, name, paired, ...) {debugid, name, paired, {__VA_ARGS__}},
#define DARWIN_END(debugid, ...)
#include "event/tracepoints_darwin.def"
#undef DARWIN
#undef DARWIN_END
/* Of a kernel with xnu-patch/. */
#define TRACEPOINT(symbol, debugid, name, paired, ...) {debugid, name, paired, {__VA_ARGS__}},
#include "event/tracepoints_xnu.def"
#undef TRACEPOINT
};

/* Whose end records have other arguments. */
static const struct darwin_end {
    uint32_t debugid;
    const char *arg[4];
} ends[] = {
#define DARWIN(...)
#define DARWIN_END(debugid, ...) {debugid, {__VA_ARGS__}},
#include "event/tracepoints_darwin.def"
#undef DARWIN
#undef DARWIN_END
};

/* Tracepoints of which every code has the same row, and what the code is called: the number of a call, a program's own number, a
 * message's id. */
static const struct {
    uint32_t debugid, mask;
    const char *code;
} families[] = {
    {0x60120000, 0xffff0000, " nr="},
    {0x60130000, 0xffff0000, " nr="},
    {0x210a0000, 0xffff0000, " code="},
    {0xff000000, 0xff000000, " id="}, /* KDBG_MIGCODE(): 22 bits, there is no subclass */
};

/* The row of `families` that a tracepoint belongs to; NULL: none. */
static const char *family_of(uint32_t debugid, uint32_t *ret_id)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
        if ((debugid & families[i].mask) != families[i].debugid)
            continue;
        *ret_id = families[i].debugid;
        return families[i].code;
    }
    *ret_id = ARGUS_DEBUGID_EVENT(debugid);
    return NULL;
}

static uint32_t row_id(uint32_t debugid)
{
    uint32_t id;
    family_of(debugid, &id);
    return id;
}

const struct darwin_tracepoint *darwin_tracepoint_find(uint32_t debugid)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].debugid == row_id(debugid))
            return &rows[i];
    return NULL;
}

static bool is_trap(uint32_t debugid)
{
    return debugid >> 16 == DARWIN_ID_TRAP(0) >> 16;
}

static bool is_bsd_call(uint32_t debugid)
{
    return debugid >> 16 == ARGUS_ID_SYSCALL(0) >> 16;
}

const char *darwin_record_name(const struct argus_trace *trace, uint32_t debugid, char *buffer,
                               size_t buffer_bytes)
{
    char number[32];
    uint32_t code = ARGUS_DEBUGID_CODE(debugid);
    const struct darwin_tracepoint *row = darwin_tracepoint_find(debugid);
    if (is_bsd_call(debugid))
        snprintf(buffer, buffer_bytes, "BSC_%s",
                 argus_syscall_name(trace, code, number, sizeof(number)));
    else if (is_trap(debugid))
        snprintf(buffer, buffer_bytes, "MSC_%s",
                 argus_syscall_name(trace, DARWIN_TRAP + code, number, sizeof(number)));
    else if (row)
        snprintf(buffer, buffer_bytes, "%s", row->name);
    else
        return NULL;
    return buffer;
}

/* --- mach_msg(): osfmk/mach/message.h --- */

static const struct {
    uint64_t bit;
    const char *name;
} options[] = {
    {0x1, "SEND"},
    {0x2, "RCV"},
    {0x4, "RCV_LARGE"},
    {0x10, "SEND_TIMEOUT"},
    {0x20, "SEND_OVERRIDE"},
    {0x40, "SEND_INTERRUPT"},
    {0x80, "SEND_NOTIFY"},
    {0x100, "RCV_TIMEOUT"},
    {0x400, "RCV_INTERRUPT"},
    {0x800, "RCV_VOUCHER"},
    {0x4000, "RCV_SYNC_WAIT"},
    {0x8000, "RCV_SYNC_PEEK"},
    {0x10000, "SEND_PROPAGATE_QOS"},
    {0x20000, "SEND_SYNC_OVERRIDE"},
    {0x200000000, "VECTOR"},
    {0x400000000, "KOBJECT_CALL"},
    {0x800000000, "MQ_CALL"},
};

static void add_options(struct text *text, uint64_t value)
{
    const char *before = " options=";
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        if (!(value & options[i].bit))
            continue;
        text_add(text, "%s%s", before, options[i].name);
        value &= ~options[i].bit;
        before = "|";
    }
    if (value || *before == ' ')
        text_add(text, "%s0x%" PRIx64, before, value);
}

static void add_message(struct text *text, const uint64_t arg[4], bool is_second)
{
    text_add(text, " address=0x%" PRIx64, arg[0]);
    add_options(text, arg[1]);
    if (is_second)
        text_add(text, " bits=0x%" PRIx32 " size=%" PRIu64 " remote=0x%" PRIx32 " local=0x%" PRIx64,
                 (uint32_t)arg[2], arg[2] >> 32, (uint32_t)arg[3], arg[3] >> 32);
    else
        text_add(text, " size=%" PRIu64 " receive_size=%" PRIu64, arg[2], arg[3]);
}

static void add_call(struct text *text, const struct argus_record *record)
{
    uint32_t code = ARGUS_DEBUGID_CODE(record->debugid);
    bool trap = is_trap(record->debugid), second = code == DARWIN_MSC_MACH_MSG2;
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END && trap)
        text_add(text, " result=0x%" PRIx64, record->arg[0]);
    else if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END)
        text_add(text, " error=%" PRIu64 " result=%" PRId64 " result2=%" PRId64 " pid=%" PRIu64,
                 record->arg[0], (int64_t)record->arg[1], (int64_t)record->arg[2], record->arg[3]);
    else if (trap &&
             (second || code == DARWIN_MSC_MACH_MSG || code == DARWIN_MSC_MACH_MSG_OVERWRITE))
        add_message(text, record->arg, second);
    else
        for (int i = 0; i < 4; i++)
            text_add(text, " arg%d=0x%" PRIx64, i + 1, record->arg[i]);
}

/* --- text in records: 32 bytes of it, of which the first record of some has numbers in front --- */

static void add_string(struct text *text, const struct argus_record *record)
{
    char string[33] = {0};
    uint32_t event = ARGUS_DEBUGID_EVENT(record->debugid);
    bool begins = ARGUS_DEBUGID_FUNC(record->debugid) & ARGUS_FUNC_START;
    size_t skipped = 0;
    if (event == 0x07010000 && begins) {
        skipped = 16;
        text_add(text, " for=0x%" PRIx64 " string=0x%" PRIx64, record->arg[0], record->arg[1]);
    } else if (event == 0x03010090 && begins) {
        skipped = 8;
        text_add(text, " vnode=0x%" PRIx64, record->arg[0]);
    }
    memcpy(string, (const char *)record->arg + skipped, 32 - skipped);
    utf8_repair(string, strlen(string));
    text_add(text, event == 0x03010090 || event == 0x0301009c ? " path=%s" : " name=%s", string);
}

static bool is_string(uint32_t debugid)
{
    uint32_t event = ARGUS_DEBUGID_EVENT(debugid);
    return debugid >> 16 == 0x0701 || event == 0x03010090 || event == 0x0301009c ||
           event == 0x2501005c || event == 0x07020010;
}

/* What the arguments are called. */
static const char *const *names_of(const struct argus_record *record)
{
    static const char *const none[4] = {"", "", "", ""};
    const struct darwin_tracepoint *row = darwin_tracepoint_find(record->debugid);
    bool ends_it = ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END;
    for (size_t i = 0; row && ends_it && i < sizeof(ends) / sizeof(*ends); i++)
        if (ends[i].debugid == row->debugid)
            return ends[i].arg;
    return row ? row->arg : none;
}

/* "name", "#name": in hexadecimal, "-name": signed, "high:SHIFT:low": two numbers in one. */
static void add_number(struct text *text, const char *name, int index, uint64_t value)
{
    char *end;
    const char *colon = strchr(name, ':');
    unsigned long shift = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (colon)
        text_add(text, " %.*s=%" PRIu64 " %s=%" PRIu64, (int)(colon - name), name, value >> shift,
                 end + 1, (uint64_t)(value & ((1ull << shift) - 1)));
    else if (*name == '#')
        text_add(text, " %s=0x%" PRIx64, name + 1, value);
    else if (*name == '-')
        text_add(text, " %s=%" PRId64, name + 1, (int64_t)value);
    else if (*name)
        text_add(text, " %s=%" PRIu64, name, value);
    else if (value)
        text_add(text, " arg%d=0x%" PRIx64, index + 1, value);
}

static void add_numbers(struct text *text, const struct argus_record *record)
{
    uint32_t id;
    const char *const *names = names_of(record), *code = family_of(record->debugid, &id);
    if (code)
        text_add(text, "%s%u", code, ((record->debugid & 0xffffffu) - (id & 0xffffffu)) >> 2);
    for (int i = 0; i < 4; i++)
        add_number(text, names[i], i, record->arg[i]);
}

void darwin_record_arguments(const struct argus_record *record, char *buffer, size_t buffer_bytes)
{
    struct text text = {.buffer = buffer, .bytes = buffer_bytes};
    if (buffer_bytes)
        buffer[0] = 0;
    if (is_trap(record->debugid) || is_bsd_call(record->debugid))
        add_call(&text, record);
    else if (is_string(record->debugid))
        add_string(&text, record);
    else
        add_numbers(&text, record);
}
