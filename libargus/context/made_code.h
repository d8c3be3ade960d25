/* Code that a program made at run time, which has names only if the program writes them out. */
#ifndef ARGUS_CONTEXT_MADE_CODE_H
#define ARGUS_CONTEXT_MADE_CODE_H

#include "argus/contexts.h"

/* Lines about functions of such code that have no name, if there are any: how many, and how the
 * runtimes in these contexts write the names out. */
void made_code_write(const struct argus_sink *sink, const struct argus_contexts *contexts);

#endif
