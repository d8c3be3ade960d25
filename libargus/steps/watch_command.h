/* The command that watches a variable, ready to be typed. */
#ifndef ARGUS_STEPS_WATCH_COMMAND_H
#define ARGUS_STEPS_WATCH_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* A size that a register can watch: a power of two of which the address is a multiple, at most
 * `bytes`. */
uint32_t watchable_bytes(uint64_t address, uint32_t bytes);

/* `text` as a shell takes it for one word; into `buffer`, if it has to be quoted. */
const char *watch_quoted(const char *text, char *buffer, size_t buffer_bytes);

/* "argus watchflag 4711 settings did_reconfigure --size 4"; of `image` only the file's name counts.
 * Returns `buffer`. */
const char *watch_command_text(uint64_t pid, const char *image, const char *what, uint32_t bytes,
                               char *buffer, size_t buffer_bytes);

/* "argus watchflag 4711 --loop": the variable that the process's loop leads to while a thread is in
 * it. Returns `buffer`. */
const char *watch_loop_command_text(uint64_t pid, char *buffer, size_t buffer_bytes);

#endif
