/* Numbers of system calls by name, for traces that only have names. */
#ifndef ARGUS_IMPORTER_CALL_NUMBERS_H
#define ARGUS_IMPORTER_CALL_NUMBERS_H

#include "argus/trace.h"

/* The number of the system call on Linux; -1: there is none of that name. */
int call_number_of(enum argus_arch arch, const char *name);

#endif
