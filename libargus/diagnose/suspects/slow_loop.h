/* A polling loop with long pauses: while (!done) sleep(1).
 *
 * The graph merges turns of a loop only if its pauses are short (graph/rules/yield.c), because a
 * thread with longer ones may as well pace its work. So each of these pauses ends a vertex of its
 * own. Only the program's code tells that such a loop waits for a variable.
 */
#ifndef ARGUS_DIAGNOSE_SLOW_LOOP_H
#define ARGUS_DIAGNOSE_SLOW_LOOP_H

#include "diagnose/diagnoser.h"

/* Whether the waits of two vertices of one thread are pauses of the same loop: sleeps in the same
 * call at the same place. */
bool is_same_pause(const struct view *view, uint32_t vertex, uint32_t other);

/* `*ret`: whether the wait of `vertex` is a pause of a loop that fills at least half of `part`, and
 * the code tells a variable that ends this loop. Errors: memory. */
struct argus_error *slow_loop_detect(struct diagnoser *d, uint32_t vertex, struct window part,
                                     bool *ret);

#endif
