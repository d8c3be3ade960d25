/* The recorder's stepper uses Linux's ptrace(2); on macOS `argus step` uses its other engine,
 * LLDB. */
#include "linux/step/step_main.h"

#include <stdio.h>

int step_main(char **argv, uid_t starter)
{
    (void)argv, (void)starter;
    fputs("argus-recorder: stepping needs Linux; inside LLDB, argus step works here as well\n",
          stderr);
    return 1;
}
