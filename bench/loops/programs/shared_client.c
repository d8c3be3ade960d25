/* shared_client SERVER: asks another program for something, and polls memory that both share: three rounds that go well, and one in
 * which the server's worker waits for a lock for 2.5 s. SHAPE_GLOBAL: a file in /dev/shm, and a global pointer; SHAPE_LOCAL: memory
 * without a file's name, and a pointer that only the stack has. Then prints a line, and waits until its input ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared_board.h"

static int requests[2];

static int make_memory(void)
{
#ifdef SHAPE_LOCAL
    int file = memfd_create("board", 0);
#else
    char name[] = "/dev/shm/argus-board-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
#endif
    if (file < 0 || ftruncate(file, 8192))
        exit(1);
    return file;
}

static struct board *map_board(int file)
{
    return mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 4096);
}

static void start_server(const char *path, int file)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", file);
    if (fork() != 0)
        return;
    dup2(requests[0], STDIN_FILENO);
    close(requests[0]);
    close(requests[1]);
    execl(path, path, number, (char *)NULL);
    _exit(1);
}

static void request(int round)
{
    char kind = round == 3 ? 's' : 'q';
    if (write(requests[1], &kind, 1) != 1)
        exit(1);
}

#ifdef SHAPE_LOCAL
__attribute__((noinline)) static void wait_until_done(const struct board *board)
{
    while (!board->is_done)
        usleep(2000);
}

static void play(int file)
{
    struct board *board = map_board(file);
    for (int round = 0; round < 4; round++) {
        board->is_done = 0;
        request(round);
        wait_until_done(board);
        usleep(60000);
    }
}
#else
static struct board *board;

__attribute__((noinline)) static void wait_until_done(void)
{
    while (!board->is_done)
        usleep(2000);
}

static void play(int file)
{
    board = map_board(file);
    for (int round = 0; round < 4; round++) {
        board->is_done = 0;
        request(round);
        wait_until_done();
        usleep(60000);
    }
}
#endif

int main(int argc, char **argv)
{
    int file = make_memory();
    if (argc < 2 || pipe(requests))
        return 1;
    fcntl(requests[1], F_SETFD, FD_CLOEXEC);
    start_server(argv[1], file);
    play(file);
    puts("done");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}
