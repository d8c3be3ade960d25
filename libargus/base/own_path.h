/* Where the program is that runs. */
#ifndef ARGUS_BASE_OWN_PATH_H
#define ARGUS_BASE_OWN_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Its path, with an end; false and "" where nobody knows, or there is no room. Any thread may call it. */
bool own_path(char *ret, size_t room);

#endif
