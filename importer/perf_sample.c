/* The body of samples: fields in a fixed order, each there if its bit in sample_type is set
 * (perf_event.h, PERF_RECORD_SAMPLE). */
#include <linux/perf_event.h>
#include <string.h>

#include "perf_data.h"

struct cursor {
    const uint8_t *at, *end;
    bool short_of; /* it ended too early */
};

static const uint8_t *take(struct cursor *cursor, uint64_t bytes)
{
    const uint8_t *at = cursor->at;
    if (cursor->short_of || bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->short_of = true;
        return NULL;
    }
    cursor->at += bytes;
    return at;
}

static uint64_t take_u64(struct cursor *cursor)
{
    uint64_t value = 0;
    const uint8_t *at = take(cursor, sizeof(value));
    if (at)
        memcpy(&value, at, sizeof(value));
    return value;
}

static void take_pair(struct cursor *cursor, uint32_t *ret_first, uint32_t *ret_second)
{
    uint64_t both = take_u64(cursor);
    *ret_first = (uint32_t)both;
    *ret_second = (uint32_t)(both >> 32);
}

/* The values of counters, which are of no use here. */
static void skip_read(struct cursor *cursor, uint64_t format)
{
    uint64_t times =
        !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    uint64_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
    if (format & PERF_FORMAT_GROUP) {
        uint64_t count = take_u64(cursor);
        if (count > (uint64_t)(cursor->end - cursor->at) / 8)
            cursor->short_of = true;
        else
            take(cursor, (times + count * words) * 8);
    } else {
        take(cursor, (times + words) * 8);
    }
}

static void take_chain(struct cursor *cursor, struct perf_sample *ret)
{
    uint64_t count = take_u64(cursor);
    if (count > (uint64_t)(cursor->end - cursor->at) / 8) {
        cursor->short_of = true;
        return;
    }
    ret->chain = (const void *)take(cursor, count * 8);
    ret->chain_length = count;
}

static void take_raw(struct cursor *cursor, struct perf_sample *ret)
{
    uint32_t bytes = 0;
    const uint8_t *at = take(cursor, sizeof(bytes));
    if (!at)
        return;
    memcpy(&bytes, at, sizeof(bytes));
    ret->raw = take(cursor, bytes);
    ret->raw_bytes = bytes;
}

static void skip_branches(struct cursor *cursor, uint64_t branch_type)
{
    uint64_t count = take_u64(cursor);
    if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        take_u64(cursor);
    if (count > (uint64_t)(cursor->end - cursor->at) / sizeof(struct perf_branch_entry))
        cursor->short_of = true;
    else
        take(cursor, count * sizeof(struct perf_branch_entry));
}

static void take_registers(struct cursor *cursor, uint64_t mask, struct perf_sample *ret)
{
    uint64_t abi = take_u64(cursor);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    ret->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
    for (unsigned i = 0; i < 64; i++)
        if (mask & 1ull << i)
            ret->registers[i] = take_u64(cursor);
}

static void take_stack(struct cursor *cursor, struct perf_sample *ret)
{
    ret->stack_asked_bytes = take_u64(cursor);
    if (!ret->stack_asked_bytes)
        return;
    ret->stack = take(cursor, ret->stack_asked_bytes);
    ret->stack_bytes = take_u64(cursor);
    if (ret->stack_bytes > ret->stack_asked_bytes)
        cursor->short_of = true;
}

static void take_place(struct cursor *cursor, uint64_t type, struct perf_sample *ret)
{
    uint32_t pid = 0, tid = 0, rest;
    if (type & PERF_SAMPLE_TID)
        take_pair(cursor, &pid, &tid);
    ret->pid = pid;
    ret->tid = tid;
    if (type & PERF_SAMPLE_TIME)
        ret->time_ns = take_u64(cursor);
    if (type & PERF_SAMPLE_ADDR)
        take_u64(cursor);
    if (type & PERF_SAMPLE_ID)
        ret->id = take_u64(cursor);
    if (type & PERF_SAMPLE_STREAM_ID)
        take_u64(cursor);
    if (type & PERF_SAMPLE_CPU)
        take_pair(cursor, &ret->cpu, &rest);
}

bool perf_read_sample(const struct perf_attr *attr, const uint8_t *body, size_t bytes,
                      struct perf_sample *ret)
{
    struct cursor cursor = {body, body + bytes, false};
    uint64_t type = attr->sample_type;
    *ret = (struct perf_sample){0};
    if (type & PERF_SAMPLE_IDENTIFIER)
        take_u64(&cursor);
    if (type & PERF_SAMPLE_IP)
        ret->ip = take_u64(&cursor);
    take_place(&cursor, type, ret);
    if (type & PERF_SAMPLE_PERIOD)
        take_u64(&cursor);
    if (type & PERF_SAMPLE_READ)
        skip_read(&cursor, attr->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN)
        take_chain(&cursor, ret);
    if (type & PERF_SAMPLE_RAW)
        take_raw(&cursor, ret);
    if (type & PERF_SAMPLE_BRANCH_STACK)
        skip_branches(&cursor, attr->branch_type);
    if (type & PERF_SAMPLE_REGS_USER)
        take_registers(&cursor, attr->user_registers, ret);
    if (type & PERF_SAMPLE_STACK_USER)
        take_stack(&cursor, ret);
    return !cursor.short_of;
}

/* The event to which the trailer of a record belongs: events may differ in what they record. An ID
 * that is at the same place for all of them is the last word. */
static const struct perf_attr *attr_of_trailer(const struct perf_file *perf, const uint8_t *body,
                                               size_t bytes)
{
    const struct perf_attr *first = perf->attrs.data;
    uint64_t id;
    if (!perf->attrs.length || bytes < sizeof(id))
        return NULL;
    if (perf->attrs.length == 1 || !(first->sample_type & PERF_SAMPLE_IDENTIFIER))
        return first;
    memcpy(&id, body + bytes - sizeof(id), sizeof(id));
    uint32_t number = idmap_get(&perf->attr_of_id, id);
    return number == IDMAP_NONE ? first : &perf->attrs.data[number];
}

bool perf_read_trailer(const struct perf_file *perf, const uint8_t *body, size_t bytes,
                       struct perf_sample *ret)
{
    const struct perf_attr *attr = attr_of_trailer(perf, body, bytes);
    uint64_t type = attr ? attr->sample_type & ~(uint64_t)PERF_SAMPLE_ADDR : 0;
    uint64_t mask = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    size_t length = (size_t)__builtin_popcountll(type & mask) * 8;
    *ret = (struct perf_sample){0};
    if (!attr || !attr->has_trailer || length > bytes)
        return false;
    struct cursor cursor = {body + bytes - length, body + bytes, false};
    take_place(&cursor, type, ret);
    return true;
}

bool perf_read_id(const struct perf_attr *first, const uint8_t *body, size_t bytes, uint64_t *ret)
{
    struct cursor cursor = {body, body + bytes, false};
    struct perf_sample sample = {0};
    if (first->sample_type & PERF_SAMPLE_IDENTIFIER) {
        *ret = take_u64(&cursor);
        return !cursor.short_of;
    }
    if (!(first->sample_type & PERF_SAMPLE_ID))
        return false;
    if (first->sample_type & PERF_SAMPLE_IP)
        take_u64(&cursor);
    take_place(&cursor, first->sample_type, &sample);
    *ret = sample.id;
    return !cursor.short_of;
}
