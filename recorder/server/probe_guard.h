/* A breakpoint inside an instruction changes what programs do, those of root as well. So probes of
 * users are checked before anything is attached. */
#ifndef ARGUS_RECORDER_PROBE_GUARD_H
#define ARGUS_RECORDER_PROBE_GUARD_H

#include <sys/types.h>

#include "argus/error.h"
#include "server/outlet.h"
#include "server/probe_list.h"

/* Leaves out the probes that are not at the beginning of a function, each with a remark, unless
 * root has sent all of them. A process without rights reads the files, which may be made to deceive
 * a reader, or be on a file system that does not answer: after some seconds, all that it has not
 * answered for are left out; `waiter` serves others until then. */
struct argus_error *probe_guard_check(struct probe_list *list, const struct outlet_waiter *waiter);

#endif
