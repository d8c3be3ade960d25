/* Addresses of sockets and paths of files: on_object_name.c. */
#ifndef ARGUS_GRAPH_ON_OBJECT_NAME_H
#define ARGUS_GRAPH_ON_OBJECT_NAME_H

struct object_names;

struct object_names *object_names_create(void);
void object_names_destroy(struct object_names *names);

#endif
