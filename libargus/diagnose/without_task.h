/* Threads of a language runtime that have no task now: without_task.c has the essay. */
#ifndef ARGUS_DIAGNOSE_WITHOUT_TASK_H
#define ARGUS_DIAGNOSE_WITHOUT_TASK_H

#include "diagnose/diagnoser.h"

/* Whether the hung thread waited on a scheduler's stack (graph/stack_beginnings.h): without a task,
 * or for the one that only it may run. */
bool hang_is_in_scheduler(const struct diagnoser *d);

/* What the answer of a question depends on. */
struct task_asker {
    const struct diagnoser *d;
    struct argus_asker user;
};

/* Asks `asker->user`, except about waits without a task: nobody can answer what a scheduler's
 * threads normally look like, so these take the default. Borrows `asker`. */
struct argus_asker without_task_asker(struct task_asker *asker);

/* If all that was found is waits of the hung thread and of others without tasks in its process,
 * takes it back and says that the records do not show what its tasks waited for. */
struct argus_error *without_task_review(struct diagnoser *d);

#endif
