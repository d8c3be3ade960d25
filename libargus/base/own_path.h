/* The path of the running program. */
#ifndef ARGUS_BASE_OWN_PATH_H
#define ARGUS_BASE_OWN_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* NUL-terminated; false and "" if it is unknown, or `room` is too small. Any thread may call it. */
bool own_path(char *ret, size_t room);

#endif
