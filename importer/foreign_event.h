/* An event of another tracer, as kernel_events.c wants it: the name of the kernel's tracepoint, and
 * its fields by name. Each reader has a row of functions that find a field in its own format. */
#ifndef ARGUS_IMPORTER_FOREIGN_EVENT_H
#define ARGUS_IMPORTER_FOREIGN_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct foreign_event;

struct foreign_fields {
    /* The field as a number (of an enumeration: its value); false: no such field. */
    bool (*number)(const struct foreign_event *event, const char *name, uint64_t *ret);
    /* The field as text, borrowed until the next event; NULL: no such field. */
    const char *(*text)(const struct foreign_event *event, const char *name);
    /* Argument `index` of a system call; false: unknown. */
    bool (*argument)(const struct foreign_event *event, unsigned index, uint64_t *ret);
};

struct foreign_event {
    const char *name; /* without the subsystem: "sched_switch"; borrowed */
    uint64_t time_ns;
    uint64_t tid; /* of the thread that was current; 0: the idle thread */
    uint32_t cpu;
    /* enum argus_context, from the event itself; ARGUS_CONTEXT_UNKNOWN: to be concluded from the
     * interrupts on this CPU */
    uint32_t context;
    uint64_t user_stack, kernel_stack; /* IDs of the sink; 0: none */
    const struct foreign_fields *fields;
    const void *source; /* for the functions of `fields` */
};

#endif
