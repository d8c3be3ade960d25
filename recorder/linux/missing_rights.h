/* What a recording lacks because the recorder lacks capabilities: it may run with few of them, as
 * root in a container or as an ordinary user. */
#ifndef ARGUS_RECORDER_LINUX_MISSING_RIGHTS_H
#define ARGUS_RECORDER_LINUX_MISSING_RIGHTS_H

#include "server/backend.h"

/* Adds a note for each capability that this process lacks and that something needs. */
void missing_rights_note(struct backend *backend);

#endif
