/* Finds Argus's own files relative to this program. */
#ifndef ARGUS_HOOKS_OWN_PATHS_H
#define ARGUS_HOOKS_OWN_PATHS_H

#include "argus/error.h"

/* The folder with the runtime. The caller frees `*ret`. */
struct argus_error *own_runtime_folder(char **ret);

#endif
