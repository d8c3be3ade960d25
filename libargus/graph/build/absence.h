/* Polls and unreceived messages while a thread is away from its event loop: absence.c. */
#ifndef ARGUS_GRAPH_ABSENCE_H
#define ARGUS_GRAPH_ABSENCE_H

#include "event/pairing/pairing.h"

struct builder;

/* The state of this feature: the polls of each thread. */
struct absences *absences_create(void);
void absences_destroy(struct absences *absences);

/* A poll, select or epoll call of `thread` has returned, after it blocked or at once. */
void absence_polled(struct builder *builder, uint32_t thread, bool blocked);
/* `thread` is in a poll call that has not blocked and will return a ready descriptor. */
void absence_ready(struct builder *builder, uint32_t thread, const uint64_t arg[4]);
/* What threads do from now on is not known: keeps the polls so far. */
void absence_forget(struct builder *builder);
/* Same contract as pairing_unread: called for a message that no thread has received. */
void absence_unread(void *context, const struct argus_message_channel *channel,
                    const struct message *message, bool gone);
/* To be called after the last record. False without memory. */
bool absence_finish(struct builder *builder);

#endif
