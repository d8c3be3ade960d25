/* Where Argus' own files are, from where this program is. */
#ifndef ARGUS_HOOKS_OWN_PATHS_H
#define ARGUS_HOOKS_OWN_PATHS_H

#include "argus/error.h"

/* The folder with the runtime. `*ret` is for free(). */
struct argus_error *own_runtime_folder(char **ret);

#endif
