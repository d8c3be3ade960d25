/* Inside the codec, the reason why bytes are damaged is a static string, half a sentence ("a column
 * is cut off"); NULL means that there is no damage. So no function of the codec allocates an error:
 * one place per chunk makes it from the reason. */
#ifndef ARGUS_TRACE_REASON_H
#define ARGUS_TRACE_REASON_H

#include <string.h>

#include "argus/error.h"

#define REASON_MEMORY       "out of memory" /* the one reason that is not the file's fault */
#define REASON_PAYLOAD      "its compressed payload is damaged"
#define REASON_PAYLOAD_SIZE "its payload does not have the size that its header says"

static inline struct argus_error *reason_to_error(const char *reason)
{
    if (!reason)
        return NULL;
    if (strcmp(reason, REASON_MEMORY) == 0)
        return argus_error_memory();
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s", reason);
}

#endif
