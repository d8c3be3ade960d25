/* Who causes callbacks: rules/callback.c. */
#ifndef ARGUS_GRAPH_RULES_CALLBACK_H
#define ARGUS_GRAPH_RULES_CALLBACK_H

#include "graph/build/actor.h"

struct builder;

/* The state of this feature: what was queued, and which UI events were read. */
struct dispatches *dispatches_create(void);
void dispatches_destroy(struct dispatches *dispatches);

/* A UI event of this kind is read from the display server by `thread`. */
void rule_ui_read(struct builder *builder, uint32_t thread, uint64_t kind);
/* What a hook tells about a program whose cursor spins. */
void rule_note_hook(struct builder *builder, uint32_t thread, const struct argus_record *record);
/* Who is behind the callback (or UI event) that begins now in `thread`; `loop`: the event loop's segment. */
void rule_dispatch(struct builder *builder, uint32_t thread, const struct argus_record *record,
                   bool is_ui, const struct actor *loop, struct cause *ret);

#endif
