#include "settings_link.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un server = {.sun_family = AF_UNIX}, own = {.sun_family = AF_UNIX};
static int channel;

static void *listen_for_display(void *unused)
{
    char text[64];
    ssize_t length;
    while ((length = recv(channel, text, sizeof(text) - 1, 0)) > 0) {
        text[length] = '\0';
        if (strncmp(text, "reconfigured ", 13) == 0)
            on_reconfigured();
    }
    return unused;
}

void link_open(const char *folder)
{
    pthread_t listener;
    snprintf(server.sun_path, sizeof(server.sun_path), "%.80s/display", folder);
    snprintf(own.sun_path, sizeof(own.sun_path), "%.80s/settings", folder);
    channel = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (channel < 0 || bind(channel, (struct sockaddr *)&own, sizeof(own)) < 0 ||
        pthread_create(&listener, NULL, listen_for_display, NULL)) {
        perror("settings");
        exit(1);
    }
    pthread_setname_np(listener, "listener");
}

void link_ask(const char *display)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "change %s", display);
    if (sendto(channel, text, (size_t)length, 0, (struct sockaddr *)&server, sizeof(server)) < 0)
        perror("settings: sendto");
}

int link_read_line(char *ret, unsigned room)
{
    unsigned length = 0;
    char letter;
    while (read(0, &letter, 1) == 1) {
        if (letter == '\n') {
            ret[length] = '\0';
            return 1;
        }
        if (length + 1 < room)
            ret[length++] = letter;
    }
    return 0;
}

void link_close(void)
{
    unlink(own.sun_path);
}
