/* After the paper's System Preferences: the main thread asks another process to change the display, and polls until a listener
 * thread has seen the answer. When the answer never comes it polls until it gives up, and the window is frozen.
 *
 * settings SOCKET-FOLDER: each line of its input is a click on "Change", with the name of the display. It writes "done" or
 * "gave up" for each.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "display_library.h"

enum { POLL_US = 1000, GIVE_UP_AFTER = 4000 };

static struct sockaddr_un server = {.sun_family = AF_UNIX}, own = {.sun_family = AF_UNIX};
static int channel;

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

static void *listen_for_display(void *unused)
{
    char text[64];
    ssize_t length;
    while ((length = recv(channel, text, sizeof(text) - 1, 0)) > 0) {
        text[length] = '\0';
        if (strncmp(text, "reconfigured ", 13) == 0)
            DID_RECONFIGURE = 1;
    }
    return unused;
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
    char text[64];
    DID_RECONFIGURE = 0;
    int length = snprintf(text, sizeof(text), "change %s", name);
    if (sendto(channel, text, (size_t)length, 0, (struct sockaddr *)&server, sizeof(server)) < 0)
        perror("settings: sendto");
    puts(wait_until_reconfigured() ? "done" : "gave up");
    fflush(stdout);
}

static void open_channel(const char *folder)
{
    snprintf(server.sun_path, sizeof(server.sun_path), "%.80s/display", folder);
    snprintf(own.sun_path, sizeof(own.sun_path), "%.80s/settings", folder);
    channel = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (channel < 0 || bind(channel, (struct sockaddr *)&own, sizeof(own)) < 0) {
        perror("settings");
        exit(1);
    }
}

static void run_window(void)
{
    char input[256], *end;
    size_t have = 0;
    for (;;) {
        struct pollfd ready = {.fd = 0, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0)
            return;
        ssize_t got = read(0, input + have, sizeof(input) - 1 - have);
        if (got <= 0)
            return;
        have += (size_t)got;
        input[have] = '\0';
        while ((end = strchr(input, '\n'))) {
            *end = '\0';
            on_click(input);
            have -= (size_t)(end + 1 - input);
            memmove(input, end + 1, have + 1);
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t listener;
    if (argc != 2) {
        fprintf(stderr, "usage: settings SOCKET-FOLDER\n");
        return 2;
    }
#if defined(FLAG_ON_HEAP)
    display = calloc(1, sizeof(*display));
#endif
    open_channel(argv[1]);
    if (pthread_create(&listener, NULL, listen_for_display, NULL))
        return 1;
    pthread_setname_np(listener, "listener");
    run_window();
    unlink(own.sun_path);
    return 0;
}
