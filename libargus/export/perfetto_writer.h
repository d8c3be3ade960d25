/* Perfetto's native format: the parts of its writer.
 *
 * A file is a sequence of packets (perfetto_out.proto), and each is written as soon as it is
 * complete, so memory does not grow with the file. All times are those of the trace's clock, which
 * is given as Perfetto's boot-time clock; a clock snapshot says which time of day that is.
 */
#ifndef ARGUS_EXPORT_PERFETTO_WRITER_H
#define ARGUS_EXPORT_PERFETTO_WRITER_H

#include "argus/export.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "perfetto_out.pb-c.h"
#include "slice/timeline.h"

/* Sequences of packets: interned numbers are valid within one. */
enum { PERFETTO_EVENTS = 1, PERFETTO_STACKS = 2 };
/* Numbers of tracks. Those of threads are this and the thread's index. */
#define PERFETTO_DIAGNOSIS_TRACK 1000u
#define PERFETTO_THREAD_TRACK    0x4152475500000000ull
/* type of a track event */
enum { PERFETTO_BEGIN = 1, PERFETTO_END = 2, PERFETTO_INSTANT = 3 };

struct perfetto {
    const struct argus_report_context *context;
    const struct argus_export *part;
    struct view view;
    uint64_t from_ns, until_ns; /* what the part covers */
    VEC(uint8_t) packed;        /* the packet that is being written */
    struct strtab *names;       /* functions and files, for stacks; NULL: none yet */
    struct idmap functions, images, frames, stacks; /* what is written of these: its number */
    bool closed;                                    /* the reader accepts no more */
    bool failed;                                    /* out of memory */
    struct argus_error *error;                      /* owned; a chunk could not be read … */
};

/* Nothing more can be written. */
bool perfetto_stopped(const struct perfetto *out);

/* Writes a packet of `sequence`. */
void perfetto_put(struct perfetto *out, ArgusPerfetto__TracePacket *packet, uint32_t sequence);

/* Writes a track event at a time. `event` has type and track. */
void perfetto_put_event(struct perfetto *out, ArgusPerfetto__TrackEvent *event, uint64_t time_ns);

/* Begins or ends a slice, or writes an instant: `type`. `category`, `name` NULL: none. */
void perfetto_put_slice(struct perfetto *out, int type, uint64_t track, uint64_t time_ns,
                        const char *category, const char *name);

/* Names of a slice's arguments, and its values. `count` of them are in use. */
#define PERFETTO_MOST_ARGUMENTS 12
struct perfetto_arguments {
    ArgusPerfetto__DebugAnnotation items[PERFETTO_MOST_ARGUMENTS];
    ArgusPerfetto__DebugAnnotation *pointers[PERFETTO_MOST_ARGUMENTS];
    size_t count;
};
void perfetto_argument_number(struct perfetto_arguments *arguments, const char *name,
                              uint64_t value);
void perfetto_argument_text(struct perfetto_arguments *arguments, const char *name,
                            const char *value);
/* A name for a track. `parent` 0: none. */
void perfetto_put_track(struct perfetto *out, uint64_t track, uint64_t parent, const char *name);

/* --- the parts, in the order of the file --- */

/* The clock, the machine, processes and threads. */
void perfetto_put_machine(struct perfetto *out);
/* What each CPU ran, and wake-ups, from the trace's records: Linux only. */
void perfetto_put_scheduling(struct perfetto *out);
/* Segments and waits of the part, with the edges between them. */
void perfetto_put_threads(struct perfetto *out);
/* CPU samples of the part, with their call stacks. */
void perfetto_put_samples(struct perfetto *out);
/* Each hang and what the diagnosis found, on tracks of their own. */
void perfetto_put_diagnosis(struct perfetto *out);

#endif
