/* The X11 protocol, as far as _NET_WM_PING needs it (X Window System Protocol, appendix B; Extended
 * Window Manager Hints). libxcb would block on a server that does not answer, and a frozen server is
 * one of the things that argus why looks for; so this client polls, and needs no library. */
#include "live/live_x11.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/live_data.h"
#include "live/live_x11_cookie.h"

enum {
    SETUP_NS = 500000000, /* for each answer of the server itself */
    MOST_SETUPS = 6,      /* so many times that, for all answers */
    MOST_BYTES = 1 << 20,
    MOST_WINDOWS = 256,
    MOST_DEPTH = 3, /* below the root, where window managers put their frames */
    PACKET = 32,
    /* requests */
    CHANGE_ATTRIBUTES = 2,
    QUERY_TREE = 15,
    INTERN_ATOM = 16,
    GET_PROPERTY = 20,
    SEND_EVENT = 25,
    /* packets from the server */
    ERROR = 0,
    REPLY = 1,
    CLIENT_MESSAGE = 33,
    EVENT_MASK = 0x800, /* in CHANGE_ATTRIBUTES: the value that is changed */
    /* answers to pings go to those who asked for events of the root window: GTK sends them to
     * SubstructureNotify, Qt 5 to StructureNotify (and both to the window manager) */
    ANSWERS = 0x80000 | 0x20000,
    ATOM_STRING = 31,
    ATOM_WM_NAME = 39,
    BYTES = 8, /* formats of properties */
    WORDS = 32,
};

enum atom { PROTOCOLS, PING, PID, CLIENT_LIST, NAME, UTF8, ATOMS };

static const char *const atom_names[ATOMS] = {"WM_PROTOCOLS",     "_NET_WM_PING", "_NET_WM_PID",
                                              "_NET_CLIENT_LIST", "_NET_WM_NAME", "UTF8_STRING"};

struct x11 {
    int fd;
    uint64_t end_ns;  /* of the wait for the next answer */
    uint64_t last_ns; /* of all questions about windows */
    uint32_t root;
    uint16_t sequence;
    uint32_t atoms[ATOMS];
    uint8_t *packet; /* the last one that was received */
    size_t packet_bytes;
    x11_windows *windows;
};

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static uint16_t u16_at(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* --- connection --- */

static bool wait_for(struct x11 *x, short events)
{
    struct pollfd polled = {x->fd, events, 0};
    int ready;
    do {
        uint64_t now = live_now_ns();
        ready = now < x->end_ns ? poll(&polled, 1, (int)((x->end_ns - now) / 1000000) + 1) : 0;
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static bool send_all(struct x11 *x, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t sent = send(x->fd, (const char *)bytes + at, length - at, MSG_NOSIGNAL);
        if (sent > 0)
            at += (size_t)sent;
        else if (errno != EAGAIN || !wait_for(x, POLLOUT))
            return false;
    }
    return true;
}

static bool receive(struct x11 *x, size_t from, size_t length)
{
    if (from + length > MOST_BYTES)
        return false;
    for (size_t at = 0; at < length;) {
        if (!wait_for(x, POLLIN))
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

/* The answer to the setup has, behind a fixed part and the vendor's name, formats of 8 bytes each, and
 * then the screens, of which the first word is the root window. */
static enum x11_answer read_setup(struct x11 *x)
{
    enum { FIXED = 40, VENDOR_BYTES = 24, FORMATS = 29, FORMAT_BYTES = 8 };
    if (!receive(x, 0, 8))
        return X11_SILENT;
    size_t length = u16_at(x->packet + 6) * 4u;
    if (x->packet[0] != 1)
        return X11_DENIED;
    if (!receive(x, 8, length))
        return X11_SILENT;
    size_t vendor = (u16_at(x->packet + VENDOR_BYTES) + 3u) / 4 * 4;
    size_t screens = FIXED + vendor + x->packet[FORMATS] * (size_t)FORMAT_BYTES;
    if (screens + 4 > length + 8)
        return X11_DENIED;
    x->root = u32_at(x->packet + screens);
    return X11_ANSWERED;
}

static enum x11_answer set_up(struct x11 *x, const char *display, const char *authority)
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
    return send_all(x, message, at) ? read_setup(x) : X11_SILENT;
}

/* --- requests --- */

/* An answer to a ping comes as an event, at any time. */
static void take_event(struct x11 *x)
{
    const uint8_t *event = x->packet;
    if ((event[0] & 0x7f) != CLIENT_MESSAGE || u32_at(event + 8) != x->atoms[PROTOCOLS] ||
        u32_at(event + 12) != x->atoms[PING])
        return;
    for (size_t i = 0; i < x->windows->length; i++)
        if (x->windows->data[i].id == u32_at(event + 20))
            x->windows->data[i].has_answered = true;
}

static bool next_packet(struct x11 *x)
{
    if (!receive(x, 0, PACKET))
        return false;
    x->packet_bytes = PACKET;
    if (x->packet[0] == REPLY) {
        size_t more = (size_t)u32_at(x->packet + 4) * 4;
        if (!receive(x, PACKET, more))
            return false;
        x->packet_bytes += more;
    } else if (x->packet[0] != ERROR) {
        take_event(x);
    }
    return true;
}

static bool request(struct x11 *x, const uint8_t *message, size_t bytes)
{
    x->sequence++;
    return send_all(x, message, bytes);
}

/* False: an error came instead. */
static bool reply_of(struct x11 *x, const uint8_t *message, size_t bytes)
{
    if (!request(x, message, bytes))
        return false;
    while (next_packet(x)) {
        if (x->packet[0] > REPLY || u16_at(x->packet + 2) != x->sequence)
            continue;
        uint64_t end = live_now_ns() + SETUP_NS;
        x->end_ns = end < x->last_ns ? end : x->last_ns;
        return x->packet[0] == REPLY;
    }
    return false;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static bool intern(struct x11 *x, enum atom atom)
{
    uint8_t message[8 + 32] = {INTERN_ATOM};
    size_t length = strlen(atom_names[atom]), whole = 8 + (length + 3) / 4 * 4;
    message[2] = (uint8_t)(whole / 4);
    message[4] = (uint8_t)length;
    memcpy(message + 8, atom_names[atom], length);
    if (!reply_of(x, message, whole))
        return false;
    x->atoms[atom] = u32_at(x->packet + 8);
    return true;
}

/* The property's items, if they have the size of `format` in bits; `*ret` points into the packet. Returns
 * their number. */
static size_t property(struct x11 *x, uint32_t window, uint32_t name, uint8_t format,
                       const uint8_t **ret)
{
    uint8_t message[24] = {GET_PROPERTY, 0, 6};
    put_u32(message + 4, window);
    put_u32(message + 8, name);
    put_u32(message + 20, MOST_WINDOWS);
    if (!reply_of(x, message, sizeof(message)))
        return 0;
    size_t count = u32_at(x->packet + 16), bytes = count * (format / 8u);
    *ret = x->packet + PACKET;
    return x->packet[1] == format && bytes <= x->packet_bytes - PACKET ? count : 0;
}

/* --- windows --- */

static void read_window(struct x11 *x, struct x11_window *window)
{
    const uint8_t *items;
    size_t count = property(x, window->id, x->atoms[PROTOCOLS], WORDS, &items);
    for (size_t i = 0; i < count; i++)
        window->pings |= u32_at(items + 4 * i) == x->atoms[PING];
    if (property(x, window->id, x->atoms[PID], WORDS, &items))
        window->pid = u32_at(items);
    count = property(x, window->id, x->atoms[NAME], BYTES, &items);
    if (!count)
        count = property(x, window->id, ATOM_WM_NAME, BYTES, &items);
    if (count >= sizeof(window->title))
        count = sizeof(window->title) - 1;
    if (count)
        memcpy(window->title, items, count);
    window->title[count] = '\0';
}

static void add_window(struct x11 *x, uint32_t id)
{
    struct x11_window window = {.id = id};
    if (x->windows->length < MOST_WINDOWS && vec_push(x->windows, window))
        read_window(x, &x->windows->data[x->windows->length - 1]);
}

/* Without a window manager: all windows that speak of protocols. */
static void search_tree(struct x11 *x, uint32_t parent, int depth)
{
    uint32_t children[MOST_WINDOWS];
    const uint8_t *items;
    uint8_t message[8] = {QUERY_TREE, 0, 2};
    put_u32(message + 4, parent);
    if (!reply_of(x, message, sizeof(message)))
        return;
    size_t count = u16_at(x->packet + 16);
    if (count > MOST_WINDOWS || count * 4 > x->packet_bytes - PACKET)
        count = 0;
    memcpy(children, x->packet + PACKET, count * sizeof(children[0]));
    for (size_t i = 0; i < count; i++) {
        if (property(x, children[i], x->atoms[PROTOCOLS], WORDS, &items))
            add_window(x, children[i]);
        else if (depth < MOST_DEPTH)
            search_tree(x, children[i], depth + 1);
    }
}

static void find_windows(struct x11 *x)
{
    uint32_t ids[MOST_WINDOWS];
    const uint8_t *items;
    size_t count = property(x, x->root, x->atoms[CLIENT_LIST], WORDS, &items);
    if (count > MOST_WINDOWS)
        count = MOST_WINDOWS;
    if (count)
        memcpy(ids, items, count * sizeof(ids[0]));
    for (size_t i = 0; i < count; i++)
        add_window(x, ids[i]);
    if (!count)
        search_tree(x, x->root, 1);
}

/* The programs answer to the root window, whose events are asked for first. */
static bool ping_all(struct x11 *x)
{
    uint8_t select[16] = {CHANGE_ATTRIBUTES, 0, 4};
    put_u32(select + 4, x->root);
    put_u32(select + 8, EVENT_MASK);
    put_u32(select + 12, ANSWERS);
    bool is_sent = request(x, select, sizeof(select));
    for (size_t i = 0; is_sent && i < x->windows->length; i++) {
        uint8_t message[44] = {SEND_EVENT, 0, 11};
        uint8_t *event = message + 12;
        put_u32(message + 4, x->windows->data[i].id);
        event[0] = CLIENT_MESSAGE;
        event[1] = 32;
        put_u32(event + 4, x->windows->data[i].id);
        put_u32(event + 8, x->atoms[PROTOCOLS]);
        put_u32(event + 12, x->atoms[PING]);
        put_u32(event + 16, 0);
        put_u32(event + 20, x->windows->data[i].id);
        if (x->windows->data[i].pings)
            is_sent = request(x, message, sizeof(message));
    }
    return is_sent;
}

static bool is_missing(const x11_windows *windows)
{
    for (size_t i = 0; i < windows->length; i++)
        if (windows->data[i].pings && !windows->data[i].has_answered)
            return true;
    return false;
}

/* Windows can only be blamed if the server, which passes their answers on, is still there. */
static enum x11_answer ask_again(struct x11 *x)
{
    x->end_ns = live_now_ns() + SETUP_NS;
    return intern(x, PING) ? X11_ANSWERED : X11_SILENT;
}

static enum x11_answer ask(struct x11 *x, const char *display, const char *authority,
                           uint64_t patience_ns)
{
    enum x11_answer answer = x11_connect(x, display);
    if (answer == X11_ANSWERED)
        answer = set_up(x, display, authority);
    for (int i = 0; i < ATOMS && answer == X11_ANSWERED; i++)
        if (!intern(x, i))
            answer = X11_SILENT;
    if (answer != X11_ANSWERED)
        return answer;
    find_windows(x);
    if (live_now_ns() >= x->end_ns && x->end_ns < x->last_ns)
        return X11_SILENT;
    x->end_ns = live_now_ns() + SETUP_NS;
    if (!ping_all(x))
        return X11_SILENT;
    x->end_ns = live_now_ns() + patience_ns;
    while (is_missing(x->windows) && next_packet(x))
        continue;
    return is_missing(x->windows) ? ask_again(x) : X11_ANSWERED;
}

enum x11_answer x11_ping(const char *display, const char *authority, uint64_t patience_ns,
                         x11_windows *ret)
{
    uint64_t now = live_now_ns();
    struct x11 x = {.fd = -1,
                    .end_ns = now + SETUP_NS,
                    .last_ns = now + MOST_SETUPS * (uint64_t)SETUP_NS,
                    .windows = ret};
    x.packet = malloc(MOST_BYTES);
    enum x11_answer answer = x.packet ? ask(&x, display, authority, patience_ns) : X11_NO_SERVER;
    if (x.fd >= 0)
        close(x.fd);
    free(x.packet);
    return answer;
}
