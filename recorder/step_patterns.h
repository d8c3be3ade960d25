/* Patterns of file names, used by the front end and by the stepper. */
#ifndef ARGUS_RECORDER_STEP_PATTERNS_H
#define ARGUS_RECORDER_STEP_PATTERNS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `path` or its last component matches one of `patterns` (shell patterns, one per line). */
bool step_patterns_match(const char *patterns, const char *path);

/* Whether to step through the code of `path`: yes unless it matches `skip` and not `into`. "" is
 * memory without a file. */
bool step_patterns_stepped(const char *skip, const char *into, const char *path);

#ifdef __cplusplus
}
#endif
#endif
