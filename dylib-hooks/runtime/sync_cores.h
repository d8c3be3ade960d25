/* Makes the cores that run this process see changed code. */
#ifndef ARGUS_HOOKS_SYNC_CORES_H
#define ARGUS_HOOKS_SYNC_CORES_H

#include <stdbool.h>

/* False if the system has no such call. Installs the handler of SIGTRAP as well (traps_linux.c). */
bool sync_cores_prepare(void);
void sync_cores(void);

#endif
