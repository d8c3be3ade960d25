/* Programs that look idle: pools, programs that read their child's output, proxies, servers with a thread for
 * each connection. */
#include "stuck.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex_of_pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static sem_t never;
static int pipes[2][2];

static void wait_for_result(void)
{
    pthread_mutex_lock(&mutex_of_pool);
    pthread_cond_wait(&done, &mutex_of_pool);
}

/* The pool's only worker waits for a task that only it could do. */
static void *wait_for_own_task(void *data)
{
    (void)data;
    sem_post(&locked);
    wait_for_result();
    return NULL;
}

void own_pool(void)
{
    begin(wait_for_own_task, NULL);
    soon_ready();
    wait_for_result();
}

void semaphore(void)
{
    begin(sleep_thread, NULL);
    sem_init(&never, 0, 0);
    soon_ready();
    sem_wait(&never);
}

static void *hold(void *data)
{
    (void)data;
    pthread_mutex_lock(&mutex_of_pool);
    sem_post(&locked);
    work_slowly();
    return NULL;
}

static void lock_pool(void *data)
{
    (void)data;
    pthread_mutex_lock(&mutex_of_pool);
}

/* A mutex that another thread holds while the process is copied. */
void copied_mutex(void)
{
    begin(hold, NULL);
    say("child", child_of(lock_pool, NULL));
    soon_ready();
    wait(NULL);
}

static void write_nothing(void *data)
{
    (void)data;
    close(pipes[0][0]);
    close(pipes[1][0]);
    work_slowly();
}

/* As subprocess functions of all languages: output and errors of a child. */
void child_output(void)
{
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0)
        return;
    say("child", child_of(write_nothing, NULL));
    close(pipes[0][1]);
    close(pipes[1][1]);
    soon_ready();
    struct pollfd polled[] = {{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}};
    poll(polled, 2, -1);
}

static int inet_socket(int type, struct sockaddr_in *ret)
{
    socklen_t length = sizeof(*ret);
    int fd = socket(AF_INET, type, 0);
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(fd, (struct sockaddr *)ret, sizeof(*ret));
    getsockname(fd, (struct sockaddr *)ret, &length);
    return fd;
}

static int connect_to(int type, const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, type, 0);
    connect(fd, (const struct sockaddr *)address, sizeof(*address));
    return fd;
}

static void ask(int fd)
{
    char byte;
    (void)!write(fd, "question", 8);
    soon_ready();
    (void)!read(fd, &byte, 1);
}

void udp(void)
{
    struct sockaddr_in address;
    int server = inet_socket(SOCK_DGRAM, &address);
    say("server", child_of(sleep_long, NULL));
    close(server);
    ask(connect_to(SOCK_DGRAM, &address));
}

static int server_fd, proxy_fd;
static struct sockaddr_in server_address;

static void read_and_sleep(void *data)
{
    char text[64];
    (void)data;
    (void)!read(accept(server_fd, NULL, NULL), text, sizeof(text));
    work_slowly();
}

/* An event loop that has passed the request on. */
static void pass_on(void *data)
{
    char text[64];
    (void)data;
    close(server_fd);
    int client = accept(proxy_fd, NULL, NULL);
    int server = connect_to(SOCK_STREAM, &server_address);
    (void)!write(server, text, (size_t)read(client, text, sizeof(text)));
    struct pollfd polled[] = {{proxy_fd, POLLIN, 0},
                              {client, POLLIN, 0},
                              {server, POLLIN, 0},
                              {eventfd(0, 0), POLLIN, 0}};
    poll(polled, 4, -1);
}

void proxy(void)
{
    struct sockaddr_in address;
    server_fd = inet_socket(SOCK_STREAM, &server_address);
    proxy_fd = inet_socket(SOCK_STREAM, &address);
    listen(server_fd, 5);
    listen(proxy_fd, 5);
    say("server", child_of(read_and_sleep, NULL));
    say("proxy", child_of(pass_on, NULL));
    close(server_fd);
    close(proxy_fd);
    ask(connect_to(SOCK_STREAM, &address));
}

/* --- a thread for each connection --- */

static struct sockaddr_un name = {.sun_family = AF_UNIX};
static int reports[2], connections[2], early_thread;

static void tell(const char *which, int id)
{
    char line[64];
    int length = snprintf(line, sizeof(line), "%s %d\n", which, id);
    (void)!write(reports[1], line, (size_t)length);
}

/* Each request waits for what the first session has; that one waits for its client. */
__attribute__((noinline)) static void handle(int fd, const char *as)
{
    char text[64];
    if (strcmp(as, "session") == 0) {
        tell(as, gettid());
        sem_post(&locked);
        (void)!read(fd, text, sizeof(text));
    } else {
        (void)!read(fd, text, sizeof(text));
        early_thread = gettid();
        tell(as, gettid());
        sem_post(&locked);
        wait_for_result();
    }
    __asm__ volatile("");
}

static void *serve_connection(void *as)
{
    sem_post(&locked);
    handle(accept(server_fd, NULL, NULL), as);
    return NULL;
}

/* Copies what tell() wrote. */
static void print_reports(int count)
{
    char text[64];
    for (int lines = 0; lines < count;) {
        ssize_t got = read(reports[0], text, sizeof(text));
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++)
            lines += text[i] == '\n';
        fwrite(text, 1, (size_t)got, stdout);
    }
    fflush(stdout);
}

static void serve_earlier_request(void)
{
    begin(serve_connection, "early");
    sem_wait(&locked);
    while (!is_asleep(early_thread))
        usleep(SETTLE_US);
    usleep(SETTLE_US);
    (void)!write(connections[1], "", 1);
}

/* The first thread has to take the first connection. */
static void serve_connections(void *has_early)
{
    begin(serve_connection, "session");
    sem_wait(&locked);
    if (has_early)
        serve_earlier_request();
    begin(serve_connection, "worker");
    accept(proxy_fd, NULL, NULL);
}

/* With a question, it waits for the answer. */
static void be_client(void *question)
{
    char text[1];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&name, sizeof(name));
    if (question)
        (void)!write(fd, question, strlen(question));
    (void)!write(connections[1], "", 1);
    if (question)
        (void)!read(fd, text, 1);
    else
        work_slowly();
}

static void begin_server(int has_early)
{
    char text[1];
    say("client", child_of(be_client, NULL));
    (void)!read(connections[0], text, 1);
    if (has_early) {
        child_of(be_client, "question");
        (void)!read(connections[0], text, 1);
    }
    child_of(serve_connections, has_early ? connections : NULL);
    if (has_early)
        (void)!read(connections[0], text, 1);
}

static void ask_session(int has_early)
{
    struct sockaddr_in other;
    char text[1];
    server_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "argus-why-sessions-%d", getpid());
    bind(server_fd, (struct sockaddr *)&name, sizeof(name));
    listen(server_fd, 5);
    proxy_fd = inet_socket(SOCK_STREAM, &other);
    listen(proxy_fd, 5);
    if (pipe(reports) != 0 || pipe(connections) != 0)
        return;
    begin_server(has_early);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&name, sizeof(name));
    (void)!write(fd, "question", 8);
    print_reports(has_early ? 3 : 2);
    close(server_fd);
    close(proxy_fd);
    soon_ready();
    (void)!read(fd, text, 1);
}

void sessions(void)
{
    ask_session(0);
}

/* The thread of an earlier request waits for the same, and so for another client. */
void session_of_another(void)
{
    ask_session(1);
}
