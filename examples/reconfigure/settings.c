/* After the paper's System Preferences: the main thread asks another process to change the display, and polls until a listener
 * thread has seen the answer. When the answer never comes it polls until it gives up, and the window is frozen.
 *
 * settings SOCKET-FOLDER: each line of its input is a click on "Change", with the name of the display. It writes "done" or
 * "gave up" for each.
 */
#include "settings_link.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "display_library.h"

#if defined(FLAG_ON_HEAP)
struct display {
    char name[40];
    volatile int did_reconfigure;
};
static struct display *display;
#define DID_RECONFIGURE display->did_reconfigure
#elif defined(FLAG_IN_LIBRARY)
#define DID_RECONFIGURE display_did_reconfigure
#else
static volatile int did_reconfigure;
#define DID_RECONFIGURE did_reconfigure
#endif

void on_reconfigured(void)
{
    DID_RECONFIGURE = 1;
}

static bool wait_until_reconfigured(void)
{
    for (int i = 0; i < GIVE_UP_AFTER; i++) {
        if (DID_RECONFIGURE)
            return true;
        usleep(POLL_US);
    }
    return false;
}

static void on_click(const char *name)
{
    DID_RECONFIGURE = 0;
    link_ask(name);
    puts(wait_until_reconfigured() ? "done" : "gave up");
    fflush(stdout);
}

static void run_window(void)
{
    char name[64];
    for (;;) {
        struct pollfd ready = {.fd = 0, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0 || !link_read_line(name, sizeof(name)))
            return;
        on_click(name);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: settings SOCKET-FOLDER\n");
        return 2;
    }
#if defined(FLAG_ON_HEAP)
    display = calloc(1, sizeof(*display));
#endif
    link_open(argv[1]);
    run_window();
    link_close();
    return 0;
}
