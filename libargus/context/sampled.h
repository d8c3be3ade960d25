/* Divides the time in which a thread ran its own code, between two system calls, by its CPU
 * samples. */
#ifndef ARGUS_CONTEXT_SAMPLED_H
#define ARGUS_CONTEXT_SAMPLED_H

#include "context/tree.h"

struct sampled_point {
    uint64_t ran_ns; /* on a CPU, since the previous point or the beginning */
    uint32_t node;
};

/* A thread's current stretch: the time since it began to run its own code. All zero: it is not in
 * one. */
struct sampled_stretch {
    VEC(struct sampled_point) samples;
    uint64_t last_ns; /* its last moment */
    uint64_t out_ns;  /* when it left its CPU; 0: it is on one */
    uint64_t off_ns;  /* time without a CPU since its last moment */
    uint32_t first;   /* node */
    bool runs;
};

/* All stretches in which the same functions continued. */
struct sampled_pool {
    uint64_t ran_ns;
    uint64_t unseen_ns; /* of it: in stretches without a sample */
    uint32_t node;      /* the innermost of these functions */
    uint32_t samples;
    uint32_t given; /* samples that have got their share */
};

struct sampled_hit {
    uint32_t pool, node, count;
};

struct sampled {
    VEC(struct sampled_pool) pools;
    VEC(struct sampled_hit) hits;
    struct idmap pool_of_node;
    struct idmap hit_of; /* pool << 32 | node → hit */
    bool no_memory;      /* sticky */
};

/* The thread begins a stretch: a system call has returned, a wait outside of any has ended, or
 * there is a sample of a thread that is in no stretch. */
void sampled_begin(struct sampled_stretch *stretch, uint32_t node, uint64_t time_ns);
/* A moment of the thread. Unless it is a sample, it ends the stretch. */
void sampled_moment(struct sampled *sampled, struct tree *tree, struct sampled_stretch *stretch,
                    struct sampled_point moment, uint64_t time_ns, bool is_sample);
/* The thread left its CPU; it got one again. */
void sampled_out(struct sampled_stretch *stretch, uint64_t time_ns);
void sampled_in(struct sampled_stretch *stretch, uint64_t time_ns);
/* Ends the stretch with its last sample: what the thread did after that is unknown. */
void sampled_end(struct sampled *sampled, struct tree *tree, struct sampled_stretch *stretch);
/* Drops the stretch, because it is unknown whether it continued. */
void sampled_drop(struct sampled_stretch *stretch);

/* Computes sampled_ns of all nodes after all records were read. */
void sampled_finish(struct sampled *sampled, struct tree *tree);
void sampled_deinit(struct sampled *sampled);

#endif
