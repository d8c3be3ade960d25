/* Polls a flag that is never set, as a spinning thread does. Prints the address of the loop's
 * function. */
#include <stdio.h>

static volatile int flag;
static volatile long turns;

__attribute__((noinline)) static int is_set(int wanted)
{
    turns += wanted;
    return flag == wanted;
}

int main(void)
{
    printf("%p\n", (void *)is_set);
    fflush(stdout);
    while (!is_set(1))
        ;
    return 0;
}
