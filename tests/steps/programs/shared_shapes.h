/* Loops and writers of memory that other processes may share; a part of loop_shapes.c. */
#ifndef SHARED_SHAPES_H
#define SHARED_SHAPES_H

#include <sys/mman.h>

OWN struct board {
    long unused;
    volatile int is_done, requests;
} * board, *slate;

APART void wait_mapped(int file)
{
    const struct board *own = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    while (!own->is_done)
        usleep(1000);
}

APART void wait_private_mapping(int file)
{
    const struct board *own = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    while (!own->is_done)
        usleep(1000);
}

APART struct board *map_board(int file)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

APART void open_board(int file)
{
    board = map_board(file);
    puts("");
}

APART void open_slate(int file)
{
    slate = map_board(file) + 2;
    puts("");
}

APART void wait_board(void)
{
    while (!board->is_done)
        usleep(1000);
}

APART void set_slate(void)
{
    slate[-2].is_done = 2;
    slate->is_done = 3;
}

APART void set_mapped(int file)
{
    map_board(file)->is_done = 4;
}

#endif
