#include "unwind_library.h"

__attribute__((noinline)) static int library_inner(int (*callback)(int), int size)
{
    volatile char room[size]; /* its frame needs a register of its own */
    room[size - 1] = 1;
    return callback(size) + room[size - 1];
}

int library_outer(int (*callback)(int))
{
    volatile int size = 100;
    return library_inner(callback, size) + 1;
}
