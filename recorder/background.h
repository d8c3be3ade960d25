/* Helpers for a process that continues in the background, and for the process that started it. */
#ifndef ARGUS_RECORDER_BACKGROUND_H
#define ARGUS_RECORDER_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

/* Opens /dev/null in the place of standard input, output and error that the starter has closed: the
 * next files would get their numbers. False: it cannot be opened. */
bool background_fill_standard_files(void);

/* Standard input, output and error become /dev/null. */
void background_leave_terminal(void);

/* Reads from a pipe until the other side closes it or the buffer is full; adds a zero byte. Returns
 * the length. */
size_t background_hear(int fd, char *ret, size_t room);

#endif
