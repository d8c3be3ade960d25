/* Events of a CTF trace, given to kernel_events.c and to the sink. ctf.c runs the library. */
#ifndef ARGUS_IMPORTER_CTF_EVENTS_H
#define ARGUS_IMPORTER_CTF_EVENTS_H

#include <babeltrace2/babeltrace.h>

#include "base/idmap.h"
#include "kernel_events.h"

enum { CTF_MACHINE_BYTES = 256 };

/* What one order of messages needs: that of the whole trace, or that of one stream. */
struct ctf_reading {
    struct sink *sink;            /* borrowed */
    struct kernel_events *events; /* borrowed */
    char *machine;                /* its name; borrowed, room for CTF_MACHINE_BYTES; begins empty */
    const bt_trace *trace;        /* of the event before; borrowed */
    uint64_t strange_count;       /* events without time, CPU or, read alone, thread */
    uint64_t lost_count;          /* since the last event, at a time that is not known */
    uint64_t threadless_count;    /* events of user space whose thread is not known */
    uint64_t markless_count;      /* events of user space that were left out: too many names */
    uint64_t user_lost_count;     /* events of user space that the tracer lost */
    uint64_t lost_packets[2];     /* of the kernel, of user space: their events are not counted */
    struct idmap
        cpu_of_stream; /* address of a bt_stream → CPU; not of streams that are read alone */
    uint32_t cpu;      /* of the event before */
    /* Read alone: the thread that runs on its CPU is known only from its own events.
     * `knows_thread`: since a switch; in the order of the whole trace, that there are switches. */
    bool is_alone, knows_thread;
    bool has_stopped; /* a damaged stream that is read alone */
    uint64_t thread;  /* the current one of a stream that is read alone */
};

void ctf_take_message(struct ctf_reading *reading, const bt_message *message);
/* To be called behind the last message. */
void ctf_end(struct ctf_reading *reading);

#endif
