/* A program whose flags are watched through its lives: flag_lives reads letters and prints "ok"
 * after each.
 *
 * p: makes the object with the flag behind a pointer. w: writes both flags once. f: forks a child
 * that writes them a hundred times, and waits for it. x: executes the program again, which prints
 * "ok".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct object {
    long before[2];
    struct inner {
        char before[8];
        volatile int flag;
    } * inner;
};

struct object *object;
volatile int plain_flag;

static void make_object(void)
{
    object = calloc(1, sizeof(*object));
    object->inner = calloc(1, sizeof(*object->inner));
}

static void write_flags(int times)
{
    for (int i = 0; i < times; i++) {
        plain_flag++;
        if (object)
            object->inner->flag++;
    }
}

static void fork_writer(void)
{
    pid_t child = fork();
    if (child == 0) {
        write_flags(100);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        char letter;
        if (read(0, &letter, 1) != 1)
            return 0;
        if (letter == 'p')
            make_object();
        else if (letter == 'w')
            write_flags(1);
        else if (letter == 'f')
            fork_writer();
        else if (letter == 'x')
            execv("/proc/self/exe", argv);
        puts("ok");
        fflush(stdout);
    }
}
