/* As loop_scaffold.c, but the worker is another process, which shares a file's memory. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct board {
    int unused[2];
    volatile int is_done;
};

static struct board *board;
static int requests[2];

__attribute__((noinline)) static void finish_work(void)
{
    board->is_done = 1;
}

__attribute__((noinline)) static void be_worker(void)
{
    char request;
    int slow = 0;
    while (read(requests[0], &request, 1) == 1) {
        usleep(++slow == 4 ? 2500000 : 5000);
        finish_work();
    }
}

__attribute__((noinline)) static void wait_until_done(void)
{
    while (!board->is_done)
        usleep(2000);
}

int main(void)
{
    char name[] = "/dev/shm/argus-board-XXXXXX";
    int file = mkstemp(name);
    if (file < 0 || unlink(name) || ftruncate(file, 4096) || pipe(requests))
        return 1;
    board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (fork() == 0) {
        close(requests[1]);
        be_worker();
        return 0;
    }
    for (int round = 0; round < 4; round++) {
        board->is_done = 0;
        if (write(requests[1], "x", 1) == 1)
            wait_until_done();
        usleep(60000);
    }
}
