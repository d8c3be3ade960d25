/* Keys of a terminal: which waits they ended. The parts of habits.c that look at devices. */
#ifndef ARGUS_DIAGNOSE_KEYS_H
#define ARGUS_DIAGNOSE_KEYS_H

#include "slice/timeline.h"

/* Whether it reads a character device, such as a terminal. */
bool wait_reads_device(const struct argus_wait *wait);

/* Whether the wait of `vertex`, which `edge` ended, was for input of a character device, as a
 * terminal is, which a worker of the kernel brought. The same workers carry what programs write to
 * terminals, so each output would seem to ask for the next key. */
bool is_device_input(const struct view *view, uint32_t vertex, const struct argus_edge *edge);

/* Whether a process that the thread's process had started, or one of its descendants, ended the
 * wait of `vertex` by `edge`, or wrote what a worker of the kernel brought: the master of a
 * terminal gets what the programs in it write. */
bool is_from_child(const struct view *view, uint32_t vertex, const struct argus_edge *edge);

/* Whether such input, but not from a child, ended the wait; or another thread of the process had
 * just got it. */
bool is_key(const struct view *view, uint32_t vertex, const struct argus_edge *edge);

/* Whether input of a terminal ended the wait of `vertex`, perhaps brought by another thread of the
 * process. */
bool was_ended_by_keys(const struct view *view, uint32_t vertex);

#endif
