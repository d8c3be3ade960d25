#include "event/darwin/darwin_text.h"

#include <stdio.h>

#include "event/darwin/darwin.h"

static const struct darwin_tracepoint rows[] = {
#define DARWIN(debugid, name, paired, ...) {debugid, name, paired, {__VA_ARGS__}},
#define DARWIN_END(debugid, ...)
#include "event/tracepoints_darwin.def"
#undef DARWIN
#undef DARWIN_END
/* From kernels with xnu-patch/. */
#define TRACEPOINT(symbol, debugid, name, paired, ...) {debugid, name, paired, {__VA_ARGS__}},
#include "event/tracepoints_xnu.def"
#undef TRACEPOINT
};

/* Tracepoints that have one row for all codes, and the meaning of the code: a call's number, a
 * program's own number, a message's ID. */
static const struct {
    uint32_t debugid, mask;
    const char *code;
} families[] = {
    {0x60120000, 0xffff0000, " nr="},
    {0x60130000, 0xffff0000, " nr="},
    {0x210a0000, 0xffff0000, " code="},
    {0xff000000, 0xff000000, " id="}, /* KDBG_MIGCODE(): 22 bits, without a subclass */
};

const char *darwin_family(uint32_t debugid, uint32_t *ret_id)
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
    darwin_family(debugid, &id);
    return id;
}

const struct darwin_tracepoint *darwin_tracepoint_find(uint32_t debugid)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].debugid == row_id(debugid))
            return &rows[i];
    return NULL;
}

bool darwin_is_trap(uint32_t debugid)
{
    return debugid >> 16 == DARWIN_ID_TRAP(0) >> 16;
}

bool darwin_is_bsd_call(uint32_t debugid)
{
    return debugid >> 16 == ARGUS_ID_SYSCALL(0) >> 16;
}

const char *darwin_record_name(const struct argus_trace *trace, uint32_t debugid, char *buffer,
                               size_t buffer_bytes)
{
    char number[32];
    uint32_t code = ARGUS_DEBUGID_CODE(debugid);
    const struct darwin_tracepoint *row = darwin_tracepoint_find(debugid);
    if (darwin_is_bsd_call(debugid))
        snprintf(buffer, buffer_bytes, "BSC_%s",
                 argus_syscall_name(trace, code, number, sizeof(number)));
    else if (darwin_is_trap(debugid))
        snprintf(buffer, buffer_bytes, "MSC_%s",
                 argus_syscall_name(trace, DARWIN_TRAP + code, number, sizeof(number)));
    else if (row || argus_trace_code_name(trace, debugid))
        snprintf(buffer, buffer_bytes, "%s",
                 row ? row->name : argus_trace_code_name(trace, debugid));
    else
        return NULL;
    return buffer;
}
