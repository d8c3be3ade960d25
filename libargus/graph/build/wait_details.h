/* What a wait is about, as records near it tell: wait_details.c, wait.c. */
#ifndef ARGUS_GRAPH_WAIT_DETAILS_H
#define ARGUS_GRAPH_WAIT_DETAILS_H

#include <stdint.h>

#include "argus/graph.h"
#include "argus/record.h"

struct builder;
struct thread_state;

/* What a wait is about, as records near it tell. */
struct wait_details {
    uint32_t user_stack, kernel_stack;
    uint64_t inode, peer_inode, object_type;
    uint32_t holder_tid;
    uint64_t mapping[4]; /* of a futex: arguments of its record; [3] is 0 if there is none */
};

/* The stack of the thread in the wait that has just ended. */
void wait_note_stack_of_last(struct builder *builder, uint32_t thread, uint32_t user,
                             uint32_t kernel);
/* Facts from a record near a wait, for the wait in progress or the next one. */
void wait_note_stack(struct builder *builder, uint32_t thread, uint32_t user, uint32_t kernel);
void wait_note_object(struct builder *builder, uint32_t thread, const struct argus_record *record);
void wait_note_holder(struct builder *builder, uint32_t thread, uint32_t holder_tid);
void wait_note_mapping(struct builder *builder, uint32_t thread, const uint64_t arg[4]);
void wait_forget_notes(struct thread_state *state);
/* Adds a detail to the wait of `thread` that is in progress or has just ended: wait_details.c. */
void wait_add_detail(struct builder *builder, uint32_t thread, enum argus_detail_kind kind,
                     const uint64_t arg[4]);
/* Same, for the wait that ended the vertex in `slot`. */
void wait_add_detail_to(struct builder *builder, uint32_t slot, enum argus_detail_kind kind,
                        const uint64_t arg[4]);

#endif
