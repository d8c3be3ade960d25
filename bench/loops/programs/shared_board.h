/* What two programs share. */
#ifndef SHARED_BOARD_H
#define SHARED_BOARD_H

struct board {
    int version;
    int requests;
    volatile int is_done;
};

#endif
