#include "loop_library.h"

#include <unistd.h>

volatile int library_is_done;
static volatile int own_is_done;
#pragma weak program_is_done

void library_ask(void)
{
    library_is_done = own_is_done = 0;
}

void library_finish(void)
{
    library_is_done = own_is_done = 1;
}

int library_has_finished(void)
{
    return own_is_done;
}

void library_wait(void)
{
    while (!own_is_done)
        usleep(2000);
}

void library_finish_program(void)
{
    program_is_done = 1;
}

void library_wait_for(int (*is_done)(const void *context), const void *context)
{
    while (!is_done(context))
        usleep(2000);
}
