/* Where stacks are taken to, and where they are stored. */
#ifndef ARGUS_BPF_STACK_MAPS_H
#define ARGUS_BPF_STACK_MAPS_H

#include "ring.h"

enum stack_user {
    STACK_USER_SWITCH,
    STACK_USER_WAKE,
    STACK_USER_SAMPLE,
    STACK_USER_FLAG,
    STACK_USER_CALL,
    STACK_USER_COUNT
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, STACK_USER_COUNT);
    __type(key, uint32_t);
    __type(value, struct bpf_stack);
} scratch SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, uint64_t);
    __type(value, struct bpf_stack);
} stacks SEC(".maps");

/* Scratch data written while a stack is taken. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, STACK_USER_COUNT);
    __type(key, uint32_t);
    __type(value, struct bpf_window);
} windows SEC(".maps");

#endif
