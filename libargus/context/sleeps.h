/* How long the waits of a function were that no thread ended: sleeps, and waits that timed out; and
 * whether that is longer than in the base. Also how much its waits for devices vary. */
#ifndef ARGUS_CONTEXT_SLEEPS_H
#define ARGUS_CONTEXT_SLEEPS_H

#include "context/tree.h"
#include "context/wait_pieces.h"

struct sleep_sum {
    double squares; /* of the single sleeps, in ns * ns */
    uint32_t count;
    uint32_t ended_count; /* waits that another thread ended */
    uint64_t ended_ns;
    uint64_t device_ns; /* waits for disks, pages and stops */
    double device_squares;
    uint32_t device_count;
    uint64_t lived_ns; /* of the threads that waited here, since their first wait here */
    bool has_own_life; /* of at least one of them, no other thread ended the life (led_lives.h) */
};

struct sleeps {
    VEC(struct sleep_sum) sums;
    struct idmap by_node;
    bool no_memory; /* sticky */
};

/* A wait of a `kind` (enum argus_waited); waits for a CPU are left out. */
void sleeps_note(struct sleeps *sleeps, uint32_t node, int kind, uint64_t slept_ns);
/* A thread, which lives for `lived_ns` from now on, waits at `node` for the first time. The node is
 * known to sleeps_note(). */
void sleeps_add_life(struct sleeps *sleeps, uint32_t node, uint64_t lived_ns, bool is_led);
/* Waits that timed out turn out to be pieces of one that another thread ended. */
void sleeps_join(struct sleeps *sleeps, uint32_t node, const struct wait_pieces *pieces);
void sleeps_deinit(struct sleeps *sleeps);

/* A node and its sleeps. */
struct sleeper {
    const struct argus_context_node *node; /* NULL: it has no such node */
    const struct sleeps *sleeps;           /* NULL: there is no base */
    uint32_t number;                       /* of the node */
    enum argus_estimate estimate;
};

/* The time in ns by which `now` slept longer than expected from `base`; negative: shorter. If
 * `base` lacks the node, all of it, unless the base's threads wait for work at `home` (homes.h; has
 * no node: unknown). Without a base, only sleeps: nothing tells whether a wait that timed out was
 * too long. */
double sleeps_excess(struct sleeper now, struct sleeper base, struct sleeper home);

/* How long the threads that waited at the node are expected to wait for something if they did so
 * for `waited_ns` in the base. If other threads ended all these lives, longer lives wait longer. */
double sleeps_expected(struct sleeper now, struct sleeper base, double waited_ns);

/* The variance of the difference of both sides' waits for devices, in ns * ns, if single waits vary
 * as in the base. 0: the base has fewer than two, so nothing is known of that. */
double sleeps_device_variance(struct sleeper now, struct sleeper base);

/* Whether the base has enough waits for devices at the node to know how much they vary. */
bool sleeps_device_is_known(struct sleeper base);

#endif
