/* What `argus info` says of a trace of Darwin besides what every trace has. */
#ifndef ARGUS_PLUGIN_DARWIN_CONTENTS_H
#define ARGUS_PLUGIN_DARWIN_CONTENTS_H

#include <jansson.h>

#include "argus/contents.h"
#include "plugin/session.h"

void darwin_contents_print(struct session *session, const struct argus_contents *contents);
json_t *darwin_contents_json(const struct argus_contents *contents);

#endif
