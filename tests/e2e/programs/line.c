/* Connections between the processes of a scene. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "scene.h"

static void connect_pipes(struct line ret[2])
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        scene_fail("pipe");
    ret[0] = (struct line){.in = back[0], .out = there[1]};
    ret[1] = (struct line){.in = there[0], .out = back[1]};
}

static void connect_tcp(struct line ret[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    if (listener < 0 || client < 0 || bind(listener, (void *)&address, sizeof(address)) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (void *)&address, &length) != 0 ||
        connect(client, (void *)&address, sizeof(address)) != 0)
        scene_fail("loopback");
    int server = accept(listener, NULL, NULL);
    if (server < 0)
        scene_fail("accept");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    close(listener);
    ret[0] = (struct line){.in = client, .out = client};
    ret[1] = (struct line){.in = server, .out = server};
}

static void connect_unix(struct line ret[2])
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        scene_fail("socketpair");
    ret[0] = (struct line){.in = ends[0], .out = ends[0]};
    ret[1] = (struct line){.in = ends[1], .out = ends[1]};
}

/* A kernel worker passes what one end writes to the other. */
static void connect_terminal(struct line ret[2])
{
    int master, slave;
    struct termios raw;
    if (openpty(&master, &slave, NULL, NULL, NULL) != 0 || tcgetattr(slave, &raw) != 0)
        scene_fail("openpty");
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    ret[0] = (struct line){.in = master, .out = master};
    ret[1] = (struct line){.in = slave, .out = slave};
}

void scene_connect(const struct scene *scene, struct line ret[2])
{
    signal(SIGPIPE, SIG_IGN);
    if (scene_variant(scene, "pipe"))
        connect_pipes(ret);
    else if (scene_variant(scene, "tcp"))
        connect_tcp(ret);
    else if (scene_variant(scene, "pty"))
        connect_terminal(ret);
    else
        connect_unix(ret);
}

bool line_send(struct line line, const void *message, size_t size)
{
    for (const char *at = message; size > 0;) {
        ssize_t done = write(line.out, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

bool line_receive(struct line line, void *message, size_t size)
{
    for (char *at = message; size > 0;) {
        ssize_t done = read(line.in, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

bool line_ask(struct line line, struct work work)
{
    char reply;
    return line_send(line, &work, sizeof(work)) && line_receive(line, &reply, 1);
}

void line_serve(struct line line, void (*work_function)(const struct work *, unsigned ms))
{
    struct work work;
    while (line_receive(line, &work, sizeof(work))) {
        work_function(&work, work.before_ms);
        if (!line_send(line, "r", 1))
            return;
        if (work.after_ms > 0)
            work_function(&work, work.after_ms);
    }
}
