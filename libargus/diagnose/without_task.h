/* Threads of a language runtime that have no task now: without_task.c has the essay. */
#ifndef ARGUS_DIAGNOSE_WITHOUT_TASK_H
#define ARGUS_DIAGNOSE_WITHOUT_TASK_H

#include "diagnose/diagnoser.h"

/* Whether the hung thread only waited on a scheduler's stack (graph/stack_beginnings.h). */
bool hang_is_without_task(const struct diagnoser *d);
/* If all that was found is waits of threads without tasks in the hung thread's process, takes it back and says that
 * the records do not show what its tasks waited for. */
struct argus_error *without_task_review(struct diagnoser *d);

#endif
