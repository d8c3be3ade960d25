/* A connection to an X server (X Window System Protocol, appendix B). libxcb would block on a
 * server that does not answer, and a frozen server is one of the things that argus why looks for;
 * so this client polls, and needs no library. */
#ifndef ARGUS_LIVE_X11_CLIENT_H
#define ARGUS_LIVE_X11_CLIENT_H

#include <stddef.h>
#include <string.h>

#include "live/live_x11.h"

enum {
    X11_SETUP_NS = 500000000, /* for each answer of the server itself */
    X11_PACKET = 32,
    X11_ATOM_BYTES = 32, /* of the longest name of an atom or extension */
};

struct x11 {
    int fd;
    uint64_t end_ns;  /* of the wait for the next answer */
    uint64_t last_ns; /* of all questions */
    uint32_t root;
    uint16_t sequence;
    uint8_t *packet; /* the last one that was received; owned */
    size_t packet_bytes;
    void (*take_event)(struct x11 *x); /* is called with each event in `packet`; may be NULL */
    void *context;                     /* of take_event() */
};

/* Connects. The caller frees with x11_close(), also if it did not answer. */
enum x11_answer x11_open(struct x11 *x, const char *display, const struct x11_authority *authority);
void x11_close(struct x11 *x);

bool x11_request(struct x11 *x, const uint8_t *message, size_t bytes);
/* Receives the next packet. False: it did not come in time. */
bool x11_next_packet(struct x11 *x);
/* A request and its reply, in `packet`. False: an error came instead, or nothing. */
bool x11_reply(struct x11 *x, const uint8_t *message, size_t bytes);
bool x11_intern(struct x11 *x, const char *name, uint32_t *ret);
/* The property's items, if they have the size of `format` in bits; `*ret` points into the packet.
 * Returns their number. */
size_t x11_property(struct x11 *x, uint32_t window, uint32_t name, uint8_t format,
                    const uint8_t **ret);

static inline uint32_t x11_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint16_t x11_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline void x11_put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

#endif
