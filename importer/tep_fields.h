/* Fields of events in the kernel's own binary layout, which libtraceevent describes: for trace.dat
 * and perf.data. */
#ifndef ARGUS_IMPORTER_TEP_FIELDS_H
#define ARGUS_IMPORTER_TEP_FIELDS_H

#include <traceevent/event-parse.h>

#include "foreign_event.h"

/* The `source` of a struct foreign_event whose `fields` is `tep_fields`. */
struct tep_source {
    struct tep_event *event;         /* borrowed */
    const struct tep_record *record; /* borrowed; data, size */
};

extern const struct foreign_fields tep_fields;

/* Fills `ret` with what the record itself tells: name, thread, context. Times, CPU and stacks are
 * the caller's. false: the kind of event is unknown. `*ret_source` must live as long as `ret`. */
bool tep_event_of(struct tep_handle *tep, struct tep_record *record, struct tep_source *ret_source,
                  struct foreign_event *ret);

#endif
