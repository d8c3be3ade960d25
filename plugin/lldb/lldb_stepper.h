/* Steps by LLDB: argus step inside the debugger. */
#ifndef ARGUS_PLUGIN_LLDB_LLDB_STEPPER_H
#define ARGUS_PLUGIN_LLDB_LLDB_STEPPER_H

#include "plugin/steps/step_engine.h"

/* A step_engine; `data`: struct host_call. */
struct argus_error *lldb_step(void *data, const struct step_request *request, const char *function,
                              const struct step_listener *listener);

#endif
