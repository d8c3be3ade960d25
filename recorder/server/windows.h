/* Which processes have windows. */
#ifndef ARGUS_RECORDER_WINDOWS_H
#define ARGUS_RECORDER_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the process is connected to a display server. True if unknown. */
bool process_has_window(uint32_t pid);

#endif
