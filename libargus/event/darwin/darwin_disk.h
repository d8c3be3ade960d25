/* Darwin's disk requests as Argus's, for those who read them from a trace's chunks. */
#ifndef ARGUS_EVENT_DARWIN_DISK_H
#define ARGUS_EVENT_DARWIN_DISK_H

#include <stdbool.h>

#include "argus/record.h"

/* Translates a record of a disk request (DKRW) into `block_issued` or `block_completed`, in place.
 * The bytes of the latter are 0: the record does not have them. False: it is another record, or the
 * request does not say how much it transfers. */
bool darwin_disk_record(struct argus_record *record);

#endif
