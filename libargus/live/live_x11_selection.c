/* The owner of a selection is a window. Which process has it, the server tells by its extension
 * X-Resource (version 1.2, resproto.txt), from the credentials of the connection; a window's own
 * _NET_WM_PID would be missing for windows that nobody sees. */
#include "live/live_x11_selection.h"

#include "live/live_x11_client.h"

enum {
    GET_SELECTION_OWNER = 23,
    QUERY_EXTENSION = 98,
    QUERY_CLIENT_IDS = 4, /* of X-Resource */
    LOCAL_PID = 2,
};

static bool find_extension(struct x11 *x, uint8_t *ret_major)
{
    static const char name[] = "X-Resource";
    uint8_t message[8 + 12] = {QUERY_EXTENSION, 0, 5, 0, sizeof(name) - 1};
    memcpy(message + 8, name, sizeof(name) - 1);
    if (!x11_reply(x, message, sizeof(message)) || !x->packet[8])
        return false;
    *ret_major = x->packet[9];
    return true;
}

/* Of the client that made this window. */
static uint32_t pid_of(struct x11 *x, uint8_t major, uint32_t window)
{
    uint8_t message[16] = {major, QUERY_CLIENT_IDS, 4};
    x11_put_u32(message + 4, 1);
    x11_put_u32(message + 8, window);
    x11_put_u32(message + 12, LOCAL_PID);
    if (!x11_reply(x, message, sizeof(message)) || !x11_u32(x->packet + 8) ||
        x->packet_bytes < X11_PACKET + 16 || x11_u32(x->packet + X11_PACKET + 4) != LOCAL_PID ||
        x11_u32(x->packet + X11_PACKET + 8) != 4)
        return 0;
    return x11_u32(x->packet + X11_PACKET + 12);
}

static uint32_t owner_of(struct x11 *x, uint8_t major, const char *selection)
{
    uint8_t message[8] = {GET_SELECTION_OWNER, 0, 2};
    uint32_t atom;
    if (!x11_intern(x, selection, &atom))
        return 0;
    x11_put_u32(message + 4, atom);
    if (!x11_reply(x, message, sizeof(message)))
        return 0;
    uint32_t window = x11_u32(x->packet + 8);
    return window ? pid_of(x, major, window) : 0;
}

uint32_t x11_selection_owners(const char *display, const struct x11_authority *authority,
                              struct x11_owner ret[X11_SELECTIONS])
{
    static const char *const names[X11_SELECTIONS] = {"CLIPBOARD", "PRIMARY", "SECONDARY"};
    struct x11 x;
    uint8_t major;
    uint32_t count = 0;
    if (x11_open(&x, display, authority) == X11_ANSWERED && find_extension(&x, &major))
        for (int i = 0; i < X11_SELECTIONS; i++) {
            uint32_t pid = owner_of(&x, major, names[i]);
            if (pid)
                ret[count++] = (struct x11_owner){names[i], pid};
        }
    x11_close(&x);
    return count;
}
