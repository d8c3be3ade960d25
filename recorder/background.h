/* What a process that goes on in the background, and the one that started it, have in common. */
#ifndef ARGUS_RECORDER_BACKGROUND_H
#define ARGUS_RECORDER_BACKGROUND_H

#include <stddef.h>

/* Standard input, output and error become /dev/null. */
void background_leave_terminal(void);

/* Reads what the other side of a pipe says until it closes it, as far as there is room; ends it with a zero byte. Returns the bytes. */
size_t background_hear(int fd, char *ret, size_t room);

#endif
