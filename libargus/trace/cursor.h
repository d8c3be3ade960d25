/* Reads values of a payload one after the other and checks every end. */
#ifndef ARGUS_TRACE_CURSOR_H
#define ARGUS_TRACE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"
#include "trace/varint.h"

/* A parser's position in a payload, which has VARINT_SLACK bytes behind its end. */
struct cursor {
    uint8_t *payload; /* mutable: names are repaired in place */
    size_t at, end;
    struct strtab *strings;
    uint64_t ticks;   /* when the table was valid */
    uint64_t address; /* of the previous kernel symbol */
    bool no_memory;
};

/* A string, interned in the cursor's table. In tables.c. */
bool take_string(struct cursor *cursor, const char **ret);

/* Each take_… returns false if the payload ends too early, or without memory. */
static inline bool take_varint(struct cursor *cursor, uint64_t *ret)
{
    if (cursor->at >= cursor->end)
        return false;
    *ret = varint_read(cursor->payload, &cursor->at);
    return cursor->at <= cursor->end;
}

static inline bool take_u32(struct cursor *cursor, uint32_t *ret)
{
    uint64_t value;
    if (!take_varint(cursor, &value) || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    return true;
}

/* An ID: 8 bytes, never 0. */
static inline bool take_id(struct cursor *cursor, uint64_t *ret)
{
    if (cursor->at > cursor->end || cursor->end - cursor->at < sizeof(*ret))
        return false;
    memcpy(ret, cursor->payload + cursor->at, sizeof(*ret));
    cursor->at += sizeof(*ret);
    return *ret != 0;
}

#endif
