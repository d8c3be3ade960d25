/* argus-recorder step: steps one thread, as a request on standard input says (step_protocol.h).
 * Needs only the rights for ptrace: it runs as the user if that is enough, otherwise as root.
 *
 * It is independent of the server: a recording may run at the same time.
 */
#ifndef ARGUS_RECORDER_LINUX_STEP_MAIN_H
#define ARGUS_RECORDER_LINUX_STEP_MAIN_H

#include <sys/types.h>

/* `argv` of the program, "argus-recorder step": overwritten, to change the name of the process.
 * `starter`: the user who started it, also through sudo. Returns the exit code. */
int step_main(char **argv, uid_t starter);

#endif
