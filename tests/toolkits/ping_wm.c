/* ping_wm: a window manager that only pings: four times a second it asks every window with support
 * for it whether it still answers (_NET_WM_PING, Extended Window Manager Hints). Ends when it is
 * killed. */
#include <X11/Xlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct manager {
    Display *display;
    Window root;
    Atom protocols, ping;
};

static int ignore_error(Display *display, XErrorEvent *event)
{
    (void)display, (void)event; /* an error: a window has been destroyed */
    return 0;
}

static void ping(const struct manager *manager, Window window)
{
    XEvent event = {.xclient = {.type = ClientMessage,
                                .window = window,
                                .message_type = manager->protocols,
                                .format = 32}};
    event.xclient.data.l[0] = (long)manager->ping;
    event.xclient.data.l[1] = CurrentTime;
    event.xclient.data.l[2] = (long)window;
    XSendEvent(manager->display, window, False, NoEventMask, &event);
}

static void ping_if_able(const struct manager *manager, Window window)
{
    Atom *protocols;
    int count;
    if (!XGetWMProtocols(manager->display, window, &protocols, &count))
        return;
    for (int i = 0; i < count; i++)
        if (protocols[i] == manager->ping)
            ping(manager, window);
    XFree(protocols);
}

static void ping_all(const struct manager *manager)
{
    Window root, parent, *windows = NULL;
    unsigned count = 0;
    if (!XQueryTree(manager->display, manager->root, &root, &parent, &windows, &count))
        return;
    for (unsigned i = 0; i < count; i++)
        ping_if_able(manager, windows[i]);
    if (windows)
        XFree(windows);
    XFlush(manager->display);
}

int main(void)
{
    const struct timespec pause = {.tv_nsec = 250000000};
    struct manager manager = {.display = XOpenDisplay(NULL)};
    if (!manager.display) {
        fprintf(stderr, "ping_wm: no display\n");
        return 1;
    }
    XSetErrorHandler(ignore_error);
    manager.root = DefaultRootWindow(manager.display);
    manager.protocols = XInternAtom(manager.display, "WM_PROTOCOLS", False);
    manager.ping = XInternAtom(manager.display, "_NET_WM_PING", False);
    XSelectInput(manager.display, manager.root, SubstructureNotifyMask | SubstructureRedirectMask);
    for (;;) {
        while (XPending(manager.display)) {
            XEvent event;
            XNextEvent(manager.display, &event);
            if (event.type == MapRequest)
                XMapWindow(manager.display, event.xmaprequest.window);
        }
        ping_all(&manager);
        nanosleep(&pause, NULL);
    }
}
