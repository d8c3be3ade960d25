/* What `argus info` reports about a Darwin trace in addition to what it reports about every
 * trace. */
#ifndef ARGUS_PLUGIN_DARWIN_CONTENTS_H
#define ARGUS_PLUGIN_DARWIN_CONTENTS_H

#include <jansson.h>

#include "argus/contents.h"
#include "plugin/session.h"

void darwin_contents_print(struct session *session, const struct argus_contents *contents);
json_t *darwin_contents_json(const struct argus_contents *contents);

#endif
