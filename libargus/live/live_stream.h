/* A stream socket to a server that may not answer: everything ends at a time. */
#ifndef ARGUS_LIVE_STREAM_H
#define ARGUS_LIVE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Waits for `events` of poll(2) until live_now_ns() is `end_ns`. False: there were none. */
bool live_stream_wait(int fd, short events, uint64_t end_ns);

/* Sends all bytes through a non-blocking socket. False: it failed, or took too long. */
bool live_stream_send(int fd, const void *bytes, size_t length, uint64_t end_ns);

#endif
