/* The causes of callbacks: rules/callback.c. */
#ifndef ARGUS_GRAPH_RULES_CALLBACK_H
#define ARGUS_GRAPH_RULES_CALLBACK_H

#include "graph/build/actor.h"

struct builder;

/* The state of this feature: queued callbacks, and the UI events that were read. */
struct dispatches *dispatches_create(void);
void dispatches_destroy(struct dispatches *dispatches);

/* `thread` reads a UI event of this kind from the display server. */
void rule_ui_read(struct builder *builder, uint32_t thread, uint64_t kind);
/* Notes a hook's report about a program whose cursor spins. */
void rule_note_hook(struct builder *builder, uint32_t thread, const struct argus_record *record);
/* Finds the cause of the callback or UI event that begins now in `thread`. `loop`: the event loop's
 * segment. */
void rule_dispatch(struct builder *builder, uint32_t thread, const struct argus_record *record,
                   bool is_ui, const struct actor *loop, struct cause *ret);

#endif
