/* Whose the time is in which a thread ran code of its own, between one system call and the next: cpu samples tell. */
#ifndef ARGUS_CONTEXT_SAMPLED_H
#define ARGUS_CONTEXT_SAMPLED_H

#include "context/tree.h"

struct sampled_point {
    uint64_t ran_ns; /* since the point before it, or the begin */
    uint64_t off_ns; /* the same, without a cpu */
    uint32_t node;
};

/* A thread since it began to run code of its own: a stretch. All zero is a thread that does not. */
struct sampled_stretch {
    VEC(struct sampled_point) samples;
    uint64_t last_ns; /* its last moment */
    uint64_t out_ns;  /* it left its cpu then, wanting one; 0: it is on one */
    uint64_t off_ns;  /* since its last moment it had no cpu */
    uint32_t first;   /* node */
    bool runs;
};

/* All stretches in which the same functions went on. */
struct sampled_pool {
    uint64_t ran_ns;
    uint64_t unseen_ns; /* of it, in stretches without a sample */
    uint32_t node;      /* the innermost of these functions */
    uint32_t samples;
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

/* The thread runs on from here; a call has returned, or a wait outside of any is over. */
void sampled_begin(struct sampled_stretch *stretch, uint32_t node, uint64_t time_ns);
/* A moment of the thread. One that is no sample ends the stretch. */
void sampled_moment(struct sampled *sampled, struct tree *tree, struct sampled_stretch *stretch,
                    struct sampled_point moment, uint64_t time_ns, bool is_sample);
/* The thread lost its cpu, wanting it, and got one. */
void sampled_out(struct sampled_stretch *stretch, uint64_t time_ns);
void sampled_in(struct sampled_stretch *stretch, uint64_t time_ns);
/* What is not known to go on. */
void sampled_drop(struct sampled_stretch *stretch);

/* Fills sampled_ns of all nodes, when all was read. */
void sampled_finish(struct sampled *sampled, struct tree *tree);
void sampled_deinit(struct sampled *sampled);

#endif
