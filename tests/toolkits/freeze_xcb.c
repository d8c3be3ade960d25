/* freeze_xcb MODE: a window of bare XCB that freezes at F5, because another client has grabbed the display server.
 *
 *   grab    the other client: when the property FREEZE of the root window changes, it grabs the server for 3 s
 *   reply   F5 changes that property, and a little later sends the server a request
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <xcb/xcb.h>

#define F5 71 /* its key code */

static xcb_connection_t *connection;
static const xcb_screen_t *screen;

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void ask(void)
{
    free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), NULL));
}

static xcb_atom_t property(void)
{
    xcb_intern_atom_reply_t *reply =
        xcb_intern_atom_reply(connection, xcb_intern_atom(connection, 0, 6, "FREEZE"), NULL);
    xcb_atom_t atom = reply->atom;
    free(reply);
    return atom;
}

static int grab(void)
{
    uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_atom_t atom = property();
    xcb_generic_event_t *event;
    xcb_change_window_attributes(connection, screen->root, XCB_CW_EVENT_MASK, &events);
    ask();
    prctl(PR_SET_NAME, "slowgrabber");
    say("serves");
    while ((event = xcb_wait_for_event(connection))) {
        if ((event->response_type & 127) == XCB_PROPERTY_NOTIFY &&
            ((xcb_property_notify_event_t *)event)->atom == atom) {
            xcb_grab_server(connection);
            ask();
            nap(3000);
            xcb_ungrab_server(connection);
            xcb_flush(connection);
        }
        free(event);
    }
    return 1;
}

static void open_window(void)
{
    xcb_window_t window = xcb_generate_id(connection);
    uint32_t values[] = {screen->white_pixel, XCB_EVENT_MASK_KEY_PRESS | XCB_EVENT_MASK_EXPOSURE};
    uint32_t pid = (uint32_t)getpid();
    xcb_intern_atom_reply_t *reply =
        xcb_intern_atom_reply(connection, xcb_intern_atom(connection, 0, 11, "_NET_WM_PID"), NULL);
    xcb_create_window(connection, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, 300, 200, 1,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
                      XCB_CW_BACK_PIXEL | XCB_CW_EVENT_MASK, values);
    xcb_change_property(connection, XCB_PROP_MODE_REPLACE, window, reply->atom, XCB_ATOM_CARDINAL,
                        32, 1, &pid);
    xcb_map_window(connection, window);
    xcb_flush(connection);
    free(reply);
}

__attribute__((noinline)) static void on_f5(xcb_atom_t atom)
{
    xcb_change_property(connection, XCB_PROP_MODE_REPLACE, screen->root, atom, XCB_ATOM_CARDINAL, 8,
                        0, NULL);
    xcb_flush(connection);
    nap(200); /* until the other client has grabbed the server */
    ask();
    say("done");
}

int main(int argc, char **argv)
{
    connection = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(connection))
        return 1;
    screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
    if (argc > 1 && strcmp(argv[1], "grab") == 0)
        return grab();
    bool frozen = false; /* the key is not released while the server is grabbed, so it repeats */
    xcb_atom_t atom = property();
    open_window();
    say("ready");
    while (!xcb_connection_has_error(connection)) {
        struct pollfd display = {.fd = xcb_get_file_descriptor(connection), .events = POLLIN};
        xcb_generic_event_t *event;
        poll(&display, 1, -1);
        while ((event = xcb_poll_for_event(connection))) {
            if (!frozen && (event->response_type & 127) == XCB_KEY_PRESS &&
                ((xcb_key_press_event_t *)event)->detail == F5) {
                frozen = true;
                on_f5(atom);
            }
            free(event);
        }
    }
    return 0;
}
