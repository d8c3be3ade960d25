/* Steps and the events between them: calls and returns, and the resulting stack. Part of
 * step_collect.c. */
#ifndef ARGUS_PLUGIN_STEP_CALLS_H
#define ARGUS_PLUGIN_STEP_CALLS_H

#include "plugin/steps/step_collect.h"

#if defined(__aarch64__) || defined(__arm64__)
#define HOST_ARCH ARGUS_ARCH_AARCH64
enum { PC = ARGUS_ARM64_PC };
#else
#define HOST_ARCH ARGUS_ARCH_X86_64
enum { PC = ARGUS_X86_RIP };
#endif

/* Handles one item: a step, call, return, library call or signal. */
struct argus_error *step_collector_step(struct step_collector *collector,
                                        const struct step_said *said);
struct argus_error *step_collector_event(struct step_collector *collector,
                                         const struct step_said *said);

#endif
