/* Messages of a thread, and where its vertices could be cut at them: talk.c. */
#ifndef ARGUS_GRAPH_TALK_H
#define ARGUS_GRAPH_TALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/pairing/pairing.h"

struct builder;

/* How far a vertex had come at a moment. */
struct talk_mark {
    uint64_t time_ns;
    uint64_t run_ns, runnable_ns; /* of the vertex until then */
    uint32_t slot;
    uint32_t ops; /* operations until then, each of a repetition counted */
};

/* Of a thread: how far its vertex had come at ... */
struct talk_marks {
    struct talk_mark begun; /* the last call that may send or receive */
    struct talk_mark ended; /* the last that did */
    struct talk_mark last;  /* the last message */
    bool talked;            /* in the call in progress */
};

/* A message record, and where its vertex would be cut before it. */
struct talk {
    uint64_t time_ns;
    uint64_t cut_ns; /* 0: nowhere; otherwise the next three are valid */
    uint64_t run_ns, runnable_ns;
    uint32_t ops;
    uint32_t slot, thread;
    uint32_t partner;  /* talk of the other end, ARGUS_NONE: not known */
    uint32_t acts_for; /* a send: the process that it is on behalf of; ARGUS_NONE: not known yet */
    /* the same as a process's id, as its voucher says; 0: it does not. From rule_split() on the process, or ARGUS_NONE */
    uint32_t behalf;
    bool receives;
};

/* The state of this feature. */
struct talks {
    VEC(struct talk) all;   /* by time; the pairing's tags are its indices */
    struct pairing pairing; /* of messages; begins with pairing_init() */
};
struct talks *talks_create(void);
void talks_destroy(struct talks *talks);

/* `thread` begins a call that may send or receive; such a call ends. */
void talk_call_begins(struct builder *builder, uint32_t thread);
void talk_call_ends(struct builder *builder, uint32_t thread);
/* A message record of the thread on the cpu: the index of its talk, or ARGUS_NONE without memory. */
uint32_t talk_add(struct builder *builder, uint32_t thread, bool receives);
/* No message, but a moment at which the vertex of `thread` may have to be cut: the index of a talk that nobody looks at but who
 * noted it. */
uint32_t talk_note(struct builder *builder, uint32_t thread);

#endif
