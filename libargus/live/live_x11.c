/* Pings to windows (_NET_WM_PING; Extended Window Manager Hints). */
#include <stddef.h>
#include <string.h>

#include "live/live_data.h"
#include "live/live_x11_client.h"

enum {
    MOST_WINDOWS = 256,
    MOST_DEPTH = 3, /* below the root, where window managers put their frames */
    /* requests */
    CHANGE_ATTRIBUTES = 2,
    QUERY_TREE = 15,
    SEND_EVENT = 25,
    CLIENT_MESSAGE = 33, /* an event */
    EVENT_MASK = 0x800,  /* in CHANGE_ATTRIBUTES: the value that is changed */
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

struct ping {
    uint32_t atoms[ATOMS];
    x11_windows *windows;
};

static struct ping *ping_of(struct x11 *x)
{
    return x->context;
}

/* An answer to a ping comes as an event, at any time. */
static void take_event(struct x11 *x)
{
    const struct ping *ping = ping_of(x);
    const uint8_t *event = x->packet;
    if ((event[0] & 0x7f) != CLIENT_MESSAGE || x11_u32(event + 8) != ping->atoms[PROTOCOLS] ||
        x11_u32(event + 12) != ping->atoms[PING])
        return;
    for (size_t i = 0; i < ping->windows->length; i++)
        if (ping->windows->data[i].id == x11_u32(event + 20))
            ping->windows->data[i].has_answered = true;
}

/* --- windows --- */

static void read_window(struct x11 *x, struct x11_window *window)
{
    const uint8_t *items;
    size_t count = x11_property(x, window->id, ping_of(x)->atoms[PROTOCOLS], WORDS, &items);
    for (size_t i = 0; i < count; i++)
        window->pings |= x11_u32(items + 4 * i) == ping_of(x)->atoms[PING];
    if (x11_property(x, window->id, ping_of(x)->atoms[PID], WORDS, &items))
        window->pid = x11_u32(items);
    count = x11_property(x, window->id, ping_of(x)->atoms[NAME], BYTES, &items);
    if (!count)
        count = x11_property(x, window->id, ATOM_WM_NAME, BYTES, &items);
    if (count >= sizeof(window->title))
        count = sizeof(window->title) - 1;
    if (count)
        memcpy(window->title, items, count);
    window->title[count] = '\0';
}

static void add_window(struct x11 *x, uint32_t id)
{
    struct x11_window window = {.id = id};
    if (ping_of(x)->windows->length < MOST_WINDOWS && vec_push(ping_of(x)->windows, window))
        read_window(x, &ping_of(x)->windows->data[ping_of(x)->windows->length - 1]);
}

/* Without a window manager: all windows that speak of protocols. */
static void search_tree(struct x11 *x, uint32_t parent, int depth)
{
    uint32_t children[MOST_WINDOWS];
    const uint8_t *items;
    uint8_t message[8] = {QUERY_TREE, 0, 2};
    x11_put_u32(message + 4, parent);
    if (!x11_reply(x, message, sizeof(message)))
        return;
    size_t count = x11_u16(x->packet + 16);
    if (count > MOST_WINDOWS || count * 4 > x->packet_bytes - X11_PACKET)
        count = 0;
    memcpy(children, x->packet + X11_PACKET, count * sizeof(children[0]));
    for (size_t i = 0; i < count; i++) {
        if (x11_property(x, children[i], ping_of(x)->atoms[PROTOCOLS], WORDS, &items))
            add_window(x, children[i]);
        else if (depth < MOST_DEPTH)
            search_tree(x, children[i], depth + 1);
    }
}

static void find_windows(struct x11 *x)
{
    uint32_t ids[MOST_WINDOWS];
    const uint8_t *items;
    size_t count = x11_property(x, x->root, ping_of(x)->atoms[CLIENT_LIST], WORDS, &items);
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
    x11_put_u32(select + 4, x->root);
    x11_put_u32(select + 8, EVENT_MASK);
    x11_put_u32(select + 12, ANSWERS);
    bool is_sent = x11_request(x, select, sizeof(select));
    for (size_t i = 0; is_sent && i < ping_of(x)->windows->length; i++) {
        uint8_t message[44] = {SEND_EVENT, 0, 11};
        uint8_t *event = message + 12;
        x11_put_u32(message + 4, ping_of(x)->windows->data[i].id);
        event[0] = CLIENT_MESSAGE;
        event[1] = 32;
        x11_put_u32(event + 4, ping_of(x)->windows->data[i].id);
        x11_put_u32(event + 8, ping_of(x)->atoms[PROTOCOLS]);
        x11_put_u32(event + 12, ping_of(x)->atoms[PING]);
        x11_put_u32(event + 16, 0);
        x11_put_u32(event + 20, ping_of(x)->windows->data[i].id);
        if (ping_of(x)->windows->data[i].pings)
            is_sent = x11_request(x, message, sizeof(message));
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
    x->end_ns = live_now_ns() + X11_SETUP_NS;
    return x11_intern(x, atom_names[PING], &ping_of(x)->atoms[PING]) ? X11_ANSWERED : X11_SILENT;
}

static enum x11_answer ask(struct x11 *x, uint64_t patience_ns)
{
    for (int i = 0; i < ATOMS; i++)
        if (!x11_intern(x, atom_names[i], &ping_of(x)->atoms[i]))
            return X11_SILENT;
    find_windows(x);
    if (live_now_ns() >= x->end_ns && x->end_ns < x->last_ns)
        return X11_SILENT;
    x->end_ns = live_now_ns() + X11_SETUP_NS;
    if (!ping_all(x))
        return X11_SILENT;
    x->end_ns = live_now_ns() + patience_ns;
    while (is_missing(ping_of(x)->windows) && x11_next_packet(x))
        continue;
    return is_missing(ping_of(x)->windows) ? ask_again(x) : X11_ANSWERED;
}

enum x11_answer x11_ping(const char *display, const struct x11_authority *authority,
                         uint64_t patience_ns, x11_windows *ret)
{
    struct x11 x;
    struct ping ping = {.windows = ret};
    enum x11_answer answer = x11_open(&x, display, authority);
    x.take_event = take_event;
    x.context = &ping;
    if (answer == X11_ANSWERED)
        answer = ask(&x, patience_ns);
    x11_close(&x);
    return answer;
}
