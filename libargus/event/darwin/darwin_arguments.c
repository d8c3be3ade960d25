/* The arguments of Darwin's records as text. */
#include "event/darwin/darwin_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "event/darwin/darwin.h"

/* Tracepoints whose end records have other arguments than their start records. */
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

static const struct {
    int32_t number;
    const char *name;
} errors[] = {
#define DARWIN_ERROR(number, name) {number, name},
#include "event/darwin/errors_darwin.def"
#undef DARWIN_ERROR
};

/* " error=ENOENT"; bits that psynch_cvwait() adds follow: "ETIMEDOUT|0x100". A number without a
 * name stays one. */
static void add_error(struct text *text, uint64_t error)
{
    int32_t number = (int32_t)error;
    uint64_t bits = number > 0 ? error & DARWIN_CVWAIT_BITS : 0;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].number == (number & ~(int32_t)bits)) {
            text_add(text, " error=%s", errors[i].name);
            if (bits)
                text_add(text, "|0x%" PRIx64, bits);
            return;
        }
    text_add(text, " error=%" PRId32, number);
}

static void add_result(struct text *text, const uint64_t arg[4])
{
    add_error(text, arg[0]);
    text_add(text, " result=%" PRId64 " result2=%" PRId64 " pid=%" PRIu64, (int64_t)arg[1],
             (int64_t)arg[2], arg[3]);
}

static void add_call(struct text *text, const struct argus_record *record)
{
    uint32_t code = ARGUS_DEBUGID_CODE(record->debugid);
    bool trap = darwin_is_trap(record->debugid), second = code == DARWIN_MSC_MACH_MSG2;
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END && trap)
        text_add(text, " result=0x%" PRIx64, record->arg[0]);
    else if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END)
        add_result(text, record->arg);
    else if (trap &&
             (second || code == DARWIN_MSC_MACH_MSG || code == DARWIN_MSC_MACH_MSG_OVERWRITE))
        add_message(text, record->arg, second);
    else
        for (int i = 0; i < 4; i++)
            text_add(text, " arg%d=0x%" PRIx64, i + 1, record->arg[i]);
}

/* --- text in records: 32 bytes each; some begin with numbers in their first record --- */

static bool is_path(uint32_t event)
{
    return event == KDEBUG_ID_LOOKUP || event == KDEBUG_ID_LOOKUP_DONE;
}

static void add_string(struct text *text, const struct argus_record *record)
{
    char string[33] = {0};
    uint32_t event = ARGUS_DEBUGID_EVENT(record->debugid), skipped = kdebug_string_skips(event);
    if (skipped == UINT32_MAX || !(ARGUS_DEBUGID_FUNC(record->debugid) & ARGUS_FUNC_START))
        skipped = 0;
    if (skipped && is_path(event))
        text_add(text, " vnode=0x%" PRIx64, record->arg[0]);
    else if (skipped)
        text_add(text, " for=0x%" PRIx64 " string=0x%" PRIx64, record->arg[0], record->arg[1]);
    memcpy(string, (const char *)record->arg + skipped, 32 - skipped);
    utf8_repair_name(string, strlen(string));
    text_add(text, is_path(event) ? " path=%s" : " name=%s", string);
}

static bool is_string(uint32_t debugid)
{
    uint32_t event = ARGUS_DEBUGID_EVENT(debugid);
    return kdebug_string_skips(event) != UINT32_MAX || event == 0x07020010;
}

/* The names of the arguments. */
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

/* "name"; "#name": in hexadecimal; "-name": signed; "high:SHIFT:low": two numbers in one
 * argument. */
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
    const char *const *names = names_of(record), *code = darwin_family(record->debugid, &id);
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
    if (darwin_is_trap(record->debugid) || darwin_is_bsd_call(record->debugid))
        add_call(&text, record);
    else if (is_string(record->debugid))
        add_string(&text, record);
    else
        add_numbers(&text, record);
}
