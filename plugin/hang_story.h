/* The processes that the story of some hangs is about: those that hung, those on the paths to the
 * causes, and the causes. */
#ifndef ARGUS_PLUGIN_HANG_STORY_H
#define ARGUS_PLUGIN_HANG_STORY_H

#include "argus/page.h"

/* By process of `graph`, to be freed: whether the story is about it. NULL: no memory. */
bool *hang_story_create(const struct argus_graph *graph, const struct argus_page_hang *hangs,
                        size_t count);

#endif
