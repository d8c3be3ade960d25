/* What the processes of the frozen editor say to each other: fixed-size messages over stream sockets. */
#ifndef EXAMPLE_MESSAGE_H
#define EXAMPLE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORD_BYTES 32

struct word {
    char text[WORD_BYTES];
};

struct verdict {
    uint32_t known; /* 1: the dictionary has the word */
};

/* Sends or receives exactly `size` bytes. False at the end of the connection; any other failure ends the process. */
bool message_send(int fd, const void *message, size_t size);
bool message_receive(int fd, void *message, size_t size);

/* The file descriptor that the parent process passed as argument `index`; ends the process when there is none. */
int message_fd_argument(int argc, char **argv, int index);

/* CLOCK_MONOTONIC. */
uint64_t message_now_ms(void);

#endif
