/* argus-recorder step: steps one thread, as a request on standard input says (step_protocol.h). Needs no more rights than ptrace
 * does: it runs as the user where that is enough, and as root where it is not.
 *
 * The server knows nothing of it: a recording may go on meanwhile.
 */
#ifndef ARGUS_RECORDER_LINUX_STEP_MAIN_H
#define ARGUS_RECORDER_LINUX_STEP_MAIN_H

/* `argv` of the program, "argus-recorder step": it is overwritten, to go by another name. Returns the exit code. */
int step_main(char **argv);

#endif
