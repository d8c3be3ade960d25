/* The lives of threads, and the parts of them for which no stack is known. */
#ifndef ARGUS_CONTEXT_KNOWN_LIVES_H
#define ARGUS_CONTEXT_KNOWN_LIVES_H

#include "argus/contexts.h"
#include "base/vec.h"

/* What is analyzed of a thread, or of a part of its life. */
struct life_span {
    uint64_t from_ns, to_ns;
};

/* The state of a thread. Times before and after its process's last exec are kept separately,
 * because they belong to different programs. */
struct life {
    uint64_t unseen_ns[2][ARGUS_UNSEEN_KINDS];
    uint64_t wanted_cpu_ns[2];   /* without a known stack, it waited for a CPU; not in unseen_ns */
    uint64_t wanted_since_ns[2]; /* the same since `since_ns` */
    uint64_t exec_ns;
    uint64_t since_ns; /* no stack is known since then, if !is_known */
    uint8_t why;       /* enum argus_unseen */
    bool is_known, was_known;
};

void life_begin(struct life *life, uint64_t from_ns, uint64_t exec_ns);
/* From now on, the thread's stack is known. */
void life_known(struct life *life, uint64_t now_ns);
/* It was known until `last_ns`. */
void life_unknown(struct life *life, uint64_t last_ns, enum argus_unseen why);
/* While its stack was not known, it waited for a CPU in the span. */
void life_wanted_cpu(struct life *life, struct life_span span);
/* The life ends. */
void life_end(struct life *life, uint64_t end_ns);

typedef VEC(struct argus_context_program) program_vec;

/* Adds the part of a life before (`is_later` false) or after its exec to the program of `node`.
 * False: no memory. */
bool life_add(program_vec *programs, const struct life *life, struct life_span span, bool is_later,
              uint32_t node);

#endif
