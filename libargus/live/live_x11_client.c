#include "live/live_x11_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/live_data.h"
#include "live/live_stream.h"
#include "live/live_x11_cookie.h"

enum {
    MOST_SETUPS = 6, /* so many times X11_SETUP_NS, for all answers */
    MOST_BYTES = 1 << 20,
    MOST_ITEMS = 256, /* of a property */
    /* requests */
    INTERN_ATOM = 16,
    GET_PROPERTY = 20,
    /* packets from the server */
    ERROR = 0,
    REPLY = 1,
};

/* --- connection --- */

static bool receive(struct x11 *x, size_t from, size_t length)
{
    if (from + length > MOST_BYTES)
        return false;
    for (size_t at = 0; at < length;) {
        if (!live_stream_wait(x->fd, POLLIN, x->end_ns))
            return false;
        ssize_t got = recv(x->fd, x->packet + from + at, length - at, 0);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

bool x11_socket_path(const char *display, char *ret, uint64_t bytes)
{
    const char *colon = strrchr(display, ':');
    bool is_here = colon && (colon == display || strncmp(display, "unix:", 5) == 0);
    if (is_here)
        snprintf(ret, bytes, "/tmp/.X11-unix/X%lu", strtoul(colon + 1, NULL, 10));
    return is_here;
}

/* EAGAIN: the server does not accept, and its queue of connections is full. */
static enum x11_answer x11_connect(struct x11 *x, const char *display)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!x11_socket_path(display, address.sun_path, sizeof(address.sun_path)))
        return X11_NO_SERVER;
    x->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (x->fd < 0)
        return X11_NO_SERVER;
    if (connect(x->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return X11_ANSWERED;
    return errno == EAGAIN ? X11_SILENT : errno == EACCES ? X11_DENIED : X11_NO_SERVER;
}

/* The answer to the setup has, behind a fixed part and the vendor's name, formats of 8 bytes each,
 * and then the screens, of which the first word is the root window. */
static enum x11_answer read_setup(struct x11 *x)
{
    enum { FIXED = 40, VENDOR_BYTES = 24, FORMATS = 29, FORMAT_BYTES = 8 };
    if (!receive(x, 0, 8))
        return X11_SILENT;
    size_t length = x11_u16(x->packet + 6) * 4u;
    if (x->packet[0] != 1)
        return X11_DENIED;
    if (!receive(x, 8, length))
        return X11_SILENT;
    size_t vendor = (x11_u16(x->packet + VENDOR_BYTES) + 3u) / 4 * 4;
    size_t screens = FIXED + vendor + x->packet[FORMATS] * (size_t)FORMAT_BYTES;
    if (screens + 4 > length + 8)
        return X11_DENIED;
    x->root = x11_u32(x->packet + screens);
    return X11_ANSWERED;
}

static enum x11_answer set_up(struct x11 *x, const char *display,
                              const struct x11_authority *authority)
{
    uint8_t message[128] = {'l', 0, 11};
    struct x11_cookie cookie;
    size_t at = 12;
    if (x11_find_cookie(authority, display, &cookie)) {
        static const char name[] = X11_COOKIE_NAME;
        message[6] = sizeof(name) - 1;
        message[8] = sizeof(cookie.bytes);
        memcpy(message + at, name, sizeof(name) - 1);
        at += (sizeof(name) - 1 + 3) / 4 * 4;
        memcpy(message + at, cookie.bytes, sizeof(cookie.bytes));
        at += sizeof(cookie.bytes);
    }
    return live_stream_send(x->fd, message, at, x->end_ns) ? read_setup(x) : X11_SILENT;
}

/* --- requests --- */

bool x11_next_packet(struct x11 *x)
{
    if (!receive(x, 0, X11_PACKET))
        return false;
    x->packet_bytes = X11_PACKET;
    if (x->packet[0] == REPLY) {
        size_t more = (size_t)x11_u32(x->packet + 4) * 4;
        if (!receive(x, X11_PACKET, more))
            return false;
        x->packet_bytes += more;
    } else if (x->packet[0] != ERROR && x->take_event) {
        x->take_event(x);
    }
    return true;
}

bool x11_request(struct x11 *x, const uint8_t *message, size_t bytes)
{
    x->sequence++;
    return live_stream_send(x->fd, message, bytes, x->end_ns);
}

/* False: an error came instead. */
bool x11_reply(struct x11 *x, const uint8_t *message, size_t bytes)
{
    if (!x11_request(x, message, bytes))
        return false;
    while (x11_next_packet(x)) {
        if (x->packet[0] > REPLY || x11_u16(x->packet + 2) != x->sequence)
            continue;
        uint64_t end = live_now_ns() + X11_SETUP_NS;
        x->end_ns = end < x->last_ns ? end : x->last_ns;
        return x->packet[0] == REPLY;
    }
    return false;
}

bool x11_intern(struct x11 *x, const char *name, uint32_t *ret)
{
    uint8_t message[8 + X11_ATOM_BYTES] = {INTERN_ATOM};
    size_t length = strlen(name), whole = 8 + (length + 3) / 4 * 4;
    message[2] = (uint8_t)(whole / 4);
    message[4] = (uint8_t)length;
    memcpy(message + 8, name, length); // NOLINT(bugprone-not-null-terminated-result)
    if (!x11_reply(x, message, whole))
        return false;
    *ret = x11_u32(x->packet + 8);
    return true;
}

/* The property's items, if they have the size of `format` in bits; `*ret` points into the packet.
 * Returns their number. */
size_t x11_property(struct x11 *x, uint32_t window, uint32_t name, uint8_t format,
                    const uint8_t **ret)
{
    uint8_t message[24] = {GET_PROPERTY, 0, 6};
    x11_put_u32(message + 4, window);
    x11_put_u32(message + 8, name);
    x11_put_u32(message + 20, MOST_ITEMS);
    if (!x11_reply(x, message, sizeof(message)))
        return 0;
    size_t count = x11_u32(x->packet + 16), bytes = count * (format / 8u);
    *ret = x->packet + X11_PACKET;
    return x->packet[1] == format && bytes <= x->packet_bytes - X11_PACKET ? count : 0;
}

enum x11_answer x11_open(struct x11 *x, const char *display, const struct x11_authority *authority)
{
    uint64_t now = live_now_ns();
    *x = (struct x11){.fd = -1,
                      .end_ns = now + X11_SETUP_NS,
                      .last_ns = now + MOST_SETUPS * (uint64_t)X11_SETUP_NS};
    x->packet = malloc(MOST_BYTES);
    if (!x->packet)
        return X11_NO_SERVER;
    enum x11_answer answer = x11_connect(x, display);
    return answer == X11_ANSWERED ? set_up(x, display, authority) : answer;
}

void x11_close(struct x11 *x)
{
    if (x->fd >= 0)
        close(x->fd);
    free(x->packet);
}
