/* Work queues: on_work.c. */
#ifndef ARGUS_GRAPH_ON_WORK_H
#define ARGUS_GRAPH_ON_WORK_H

/* The state of this feature: the work that was queued. */
struct works *works_create(void);
void works_destroy(struct works *works);

#endif
