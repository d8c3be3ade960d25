/* Changes displays when asked, and says so to who asked: but not of the one called "mirror". Of that it believes that
 * nothing has changed.
 *
 * displayd SOCKET-FOLDER; ends at the end of its input.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void work(void)
{
    usleep(3000);
}

static void answer(int channel)
{
    char text[64], said[80];
    struct sockaddr_un from;
    socklen_t from_length = sizeof(from);
    ssize_t length =
        recvfrom(channel, text, sizeof(text) - 1, 0, (struct sockaddr *)&from, &from_length);
    if (length < 7)
        return;
    text[length] = '\0';
    work();
    if (strcmp(text + 7, "mirror") == 0)
        return;
    snprintf(said, sizeof(said), "reconfigured %s", text + 7);
    sendto(channel, said, strlen(said), 0, (struct sockaddr *)&from, from_length);
}

int main(int argc, char **argv)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    if (argc != 2) {
        fprintf(stderr, "usage: displayd SOCKET-FOLDER\n");
        return 2;
    }
    snprintf(own.sun_path, sizeof(own.sun_path), "%.80s/display", argv[1]);
    int channel = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (channel < 0 || bind(channel, (struct sockaddr *)&own, sizeof(own)) < 0) {
        perror("displayd");
        return 1;
    }
    for (;;) {
        struct pollfd ready[2] = {{.fd = channel, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 || ready[1].revents)
            break;
        answer(channel);
    }
    unlink(own.sun_path);
    return 0;
}
