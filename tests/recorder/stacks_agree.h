/* What stacks_agree.bpf.c counts. */
#ifndef STACKS_AGREE_H
#define STACKS_AGREE_H

#include <stdint.h>

struct agreement {
    uint64_t kernel, kernel_recognised, kernel_differs;
    uint64_t user, user_frames, user_differs;
};

#endif
