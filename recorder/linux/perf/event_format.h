/* Where the fields of a tracepoint are in its raw bytes, parsed from its description in tracefs:
 *
 *     name: sched_waking
 *     ID: 375
 *     format:
 *             field:unsigned char common_flags;       offset:2;       size:1; signed:0;
 *             field:char comm[16];    offset:8;       size:16;        signed:0;
 */
#ifndef ARGUS_RECORDER_LINUX_EVENT_FORMAT_H
#define ARGUS_RECORDER_LINUX_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_field {
    uint32_t offset, bytes; /* bytes 0: this kernel does not have the field */
    bool is_signed;
    bool is_elsewhere; /* __data_loc: the field holds 16 bits of offset, then 16 bits of length */
};

/* The ID for perf_event_open(); 0 if the text has none. */
uint32_t event_format_id(const char *text);
/* False if the field is missing or its description is invalid. */
bool event_format_find(const char *text, const char *name, struct event_field *ret);

/* Read a field from `raw`, of `raw_bytes` bytes. A field outside of it reads as 0 or "". */
uint64_t event_field_number(const struct event_field *field, const void *raw, size_t raw_bytes);
/* The element `index` of an array of 64-bit numbers. */
uint64_t event_field_element(const struct event_field *field, size_t index, const void *raw,
                             size_t raw_bytes);
/* Points into `raw`; `*ret_bytes` without a NUL. */
const char *event_field_text(const struct event_field *field, const void *raw, size_t raw_bytes,
                             size_t *ret_bytes);

#endif
