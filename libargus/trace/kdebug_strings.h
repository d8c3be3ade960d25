/* Texts that go over several records of one thread: names and paths. bsd/kern/kdebug.c:1072, bsd/vfs/vfs_lookup.c:2130.
 *
 * A text of one tracepoint begins with the start bit and ends with the end bit (both at once, when it fits into one
 * record); what lies between has neither. The first record of some has numbers in front of the text. Records of other
 * tracepoints may lie in between, but not another text of the same thread. */
#ifndef ARGUS_TRACE_KDEBUG_STRINGS_H
#define ARGUS_TRACE_KDEBUG_STRINGS_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

#define KDEBUG_ID_STRING_GLOBAL 0x07010000u
#define KDEBUG_ID_LOOKUP        0x03010090u
#define KDEBUG_ID_LOOKUP_DONE   0x0301009cu
#define KDEBUG_ID_LABEL         0x2501005cu /* of a dispatch queue */

/* No text is longer (MAXPATHLEN); what goes on is left out. */
enum { KDEBUG_STRING_BYTES = 1024 };

struct kdebug_string {
    uint64_t number[2]; /* those in front; 0: none */
    uint32_t event;     /* debugid without function bits; 0: nothing is open */
    uint32_t records;   /* that it was in */
    uint32_t length;
    char text[KDEBUG_STRING_BYTES + 1]; /* UTF-8 when it is whole */
};

struct kdebug_strings {
    VEC(struct kdebug_string) open;
    VEC(uint32_t) spare; /* those of `open` that nobody has */
    struct idmap by_thread;
    bool no_memory; /* sticky */
};

/* Bytes in front of the text of a tracepoint's first record; UINT32_MAX: it has no text that goes over several records. */
uint32_t kdebug_string_skips(uint32_t event);

/* The text that `record` ends; NULL: none. Valid until the next call. */
const struct kdebug_string *kdebug_strings_feed(struct kdebug_strings *strings,
                                                const struct argus_record *record);
void kdebug_strings_deinit(struct kdebug_strings *strings);

#endif
