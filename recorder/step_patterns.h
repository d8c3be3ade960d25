/* Patterns of file names, as the front end gives them to the stepper and uses them itself. */
#ifndef ARGUS_RECORDER_STEP_PATTERNS_H
#define ARGUS_RECORDER_STEP_PATTERNS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does `path`, or its last part, fit one of `patterns` (shell patterns, one a line)? */
bool step_patterns_match(const char *patterns, const char *path);

/* Is the code of `path` to be stepped through, when what fits `skip` and not `into` is not? "" is memory without a file. */
bool step_patterns_stepped(const char *skip, const char *into, const char *path);

#ifdef __cplusplus
}
#endif
#endif
