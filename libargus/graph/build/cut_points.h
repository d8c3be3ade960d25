/* The messages of a thread, and where its vertices could be cut before them: cut_points.c. */
#ifndef ARGUS_GRAPH_CUT_POINTS_H
#define ARGUS_GRAPH_CUT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/pairing/pairing.h"

struct builder;

/* The progress of a vertex at a moment. */
struct vertex_mark {
    uint64_t time_ns;
    uint64_t run_ns, runnable_ns; /* of the vertex until then */
    uint32_t slot;
    uint32_t ops; /* operations until then; repeated ones count each time */
};

/* The progress of a thread's vertex at certain moments. */
struct message_marks {
    struct vertex_mark begun; /* begin of the last system call that may send or receive */
    struct vertex_mark ended; /* end of the last system call that did send or receive */
    struct vertex_mark last;  /* the last message record */
    bool has_message;         /* the current system call has sent or received */
};

/* A message record, and where its vertex would be cut before it. */
struct cut_point {
    uint64_t time_ns;
    uint64_t cut_ns; /* 0: no cut is possible; otherwise the next three are valid */
    uint64_t run_ns, runnable_ns;
    uint32_t ops;
    uint32_t slot, thread;
    uint32_t partner; /* cut point of the message's other end; ARGUS_NONE: not known */
    /* of a send: the process that it is on behalf of; ARGUS_NONE: not known yet */
    uint32_t acts_for;
    /* the process that the message's voucher names: a pid, 0 if there is none; rule_split()
     * replaces it by the process's index or ARGUS_NONE */
    uint32_t behalf;
    bool receives;
};

/* The state of this feature. */
struct cut_points {
    VEC(struct cut_point) all; /* by time; the pairing's tags are its indices */
    struct pairing pairing;    /* of messages; begins with pairing_init() */
};
struct cut_points *cut_points_create(void);
void cut_points_destroy(struct cut_points *points);

/* `thread` begins a system call that may send or receive; such a call ends. */
void cut_points_call_begins(struct builder *builder, uint32_t thread);
void cut_points_call_ends(struct builder *builder, uint32_t thread);
/* Adds a message record of the thread on the cpu. Returns its index; ARGUS_NONE without memory. */
uint32_t cut_point_add_message(struct builder *builder, uint32_t thread, bool receives);
/* Adds a moment that is no message, but at which the vertex of `thread` may have to be cut: the
 * call of a function that a user's rule is about. Returns its index, which only the caller uses. */
uint32_t cut_point_add_call(struct builder *builder, uint32_t thread);

#endif
