#include "graph/text/object_name.h"

#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>

#include "base/lower_bound.h"
#include "graph/text/object_text.h"

#define UDP 17

const char *file_path_of(const struct argus_graph *graph, uint64_t inode, uint32_t thread)
{
    const struct argus_file_name *names;
    const char *found = NULL;
    bool several = false;
    size_t first, count = argus_graph_file_names(graph, &names);
    LOWER_BOUND(first, count, names[first].inode < inode);
    for (size_t i = first; inode && i < count && names[i].inode == inode; i++) {
        if (names[i].thread == thread)
            return names[i].path;
        several |= found && strcmp(found, names[i].path) != 0;
        found = names[i].path;
    }
    return several ? NULL : found;
}

const struct argus_remote *remote_of(const struct argus_graph *graph, uint64_t inode,
                                     uint64_t time_ns)
{
    const struct argus_remote *remotes, *found = NULL;
    size_t first, count = argus_graph_remotes(graph, &remotes);
    LOWER_BOUND(first, count, remotes[first].inode < inode);
    for (size_t i = first; inode && i < count && remotes[i].inode == inode; i++)
        if (!found || remotes[i].time_ns <= time_ns)
            found = &remotes[i];
    return found;
}

const char *remote_address_text(const struct argus_remote *remote, char *buffer, size_t bytes)
{
    if (!inet_ntop(remote->version == 4 ? AF_INET : AF_INET6, remote->address, buffer,
                   (socklen_t)bytes))
        snprintf(buffer, bytes, "?");
    return buffer;
}

const char *remote_protocol_text(const struct argus_remote *remote)
{
    return remote->protocol == UDP ? "UDP" : "TCP";
}

const char *remote_text(const struct argus_remote *remote, char *buffer, size_t bytes)
{
    char address[INET6_ADDRSTRLEN];
    remote_address_text(remote, address, sizeof(address));
    snprintf(buffer, bytes, remote->version == 4 ? "%s:%u" : "[%s]:%u", address, remote->port);
    return buffer;
}

const char *object_named_text(const struct object_of_wait *object, char *buffer, size_t bytes)
{
    char address[64];
    object_text(object->inode, object->peer, object->type, buffer, bytes);
    if (object_is_file(object->type)) {
        const char *path = file_path_of(object->graph, object->inode, object->thread);
        if (path)
            snprintf(buffer, bytes, "%s", path);
    } else if (object_is_inet(object->type)) {
        const struct argus_remote *remote = remote_of(object->graph, object->inode, UINT64_MAX);
        size_t length = strlen(buffer);
        if (remote)
            snprintf(buffer + length, bytes - length, " to %s",
                     remote_text(remote, address, sizeof(address)));
    }
    return buffer;
}
