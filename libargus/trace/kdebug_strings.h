/* Texts that extend over several records of one thread: names and paths. bsd/kern/kdebug.c:1072,
 * bsd/vfs/vfs_lookup.c:2130.
 *
 * The first record of a text has the start bit and the last one the end bit (one record can have
 * both); records in between have neither. For some tracepoints, the first record has numbers in
 * front of the text. Records of other tracepoints may come in between, but not another text of the
 * same thread. */
#ifndef ARGUS_TRACE_KDEBUG_STRINGS_H
#define ARGUS_TRACE_KDEBUG_STRINGS_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

#define KDEBUG_ID_STRING_GLOBAL 0x07010000u
#define KDEBUG_ID_LOOKUP        0x03010090u
#define KDEBUG_ID_LOOKUP_DONE   0x0301009cu
#define KDEBUG_ID_LABEL         0x2501005cu /* of a dispatch queue */

/* The maximum length of a text (MAXPATHLEN); the rest is dropped. */
enum { KDEBUG_STRING_BYTES = 1024 };

struct kdebug_string {
    uint64_t number[2]; /* the numbers in front of the text; 0: none */
    uint32_t event;     /* debugid without function bits; 0: no text is open */
    uint32_t records;   /* number of records of the text */
    uint32_t length;
    char text[KDEBUG_STRING_BYTES + 1]; /* valid UTF-8 once it is complete */
};

struct kdebug_strings {
    VEC(struct kdebug_string) open;
    VEC(uint32_t) spare; /* indices of unused entries of `open` */
    struct idmap by_thread;
    bool no_memory; /* sticky */
};

/* Number of bytes in front of the text in the tracepoint's first record; UINT32_MAX: it has no text
 * over several records. */
uint32_t kdebug_string_skips(uint32_t event);

/* The text that `record` completes; NULL: none. Valid until the next call. */
const struct kdebug_string *kdebug_strings_feed(struct kdebug_strings *strings,
                                                const struct argus_record *record);
void kdebug_strings_deinit(struct kdebug_strings *strings);

#endif
