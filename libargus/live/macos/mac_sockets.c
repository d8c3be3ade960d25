/* Sockets of macOS, as the descriptors of processes tell them: those of other users are missing
 * unless argus runs as root. A connection that nobody has accepted has no descriptor at its other
 * end: it is added for its listening socket, if that says that such connections wait. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "live/live_data.h"
#include "live/macos/mac_kernel.h"

typedef VEC(struct mac_socket) mac_sockets;

static void add_inet(struct argus_live *live, const struct mac_socket *socket)
{
    uint8_t family = socket->is_ip6 ? AF_INET6 : AF_INET;
    struct live_socket added = {.family = AF_INET,
                                .inode = socket->id,
                                .unread = socket->is_listening ? socket->waiting : socket->unread,
                                .is_listening = socket->is_listening,
                                .is_connected = socket->is_connected,
                                .is_datagram = socket->kind == MAC_SOCKET_UDP,
                                .local_port = socket->local_port,
                                .remote_port = socket->remote_port};
    live_copy_address(added.local, socket->local, family);
    live_copy_address(added.remote, socket->remote, family);
    live_add_socket(live, &added);
}

static void add_unix(struct argus_live *live, const struct mac_socket *socket)
{
    struct live_socket added = {.family = AF_UNIX,
                                .inode = socket->id,
                                .peer = socket->peer,
                                .unread = socket->is_listening ? socket->waiting : socket->unread,
                                .is_listening = socket->is_listening};
    added.path = socket->name[0] ? live_text(live, socket->name) : 0;
    live_add_socket(live, &added);
}

static void add_socket(struct argus_live *live, const struct mac_socket *socket)
{
    if (socket->kind == MAC_SOCKET_UNIX)
        add_unix(live, socket);
    else if (socket->kind != MAC_SOCKET_OTHER)
        add_inet(live, socket);
}

static bool is_known(const struct argus_live *live, uint64_t inode)
{
    return inode && idmap_get(&live->by_inode, inode) != IDMAP_NONE;
}

/* The listening unix socket of this name at which connections wait; 0: none. */
static uint64_t listener_of(const mac_sockets *sockets, const char *name)
{
    for (size_t i = 0; name[0] && i < sockets->length; i++) {
        const struct mac_socket *socket = &sockets->data[i];
        if (socket->kind == MAC_SOCKET_UNIX && socket->is_listening && socket->waiting &&
            strcmp(socket->name, name) == 0)
            return socket->id;
    }
    return 0;
}

/* The other end of this client, as an end without an inode (live_add_socket()). */
static void add_waiting_unix(struct argus_live *live, const mac_sockets *sockets,
                             const struct mac_socket *client)
{
    uint32_t index = idmap_get(&live->by_inode, client->id);
    uint64_t listener = listener_of(sockets, client->peer_name);
    if (!client->peer || is_known(live, client->peer) || !listener || index == IDMAP_NONE)
        return;
    struct live_socket waiting = {.peer = client->id, .unread = listener};
    live->sockets.data[index].peer = 0;
    live_add_socket(live, &waiting);
}

static bool is_end_of(const struct mac_socket *a, const struct mac_socket *b)
{
    size_t bytes = a->is_ip6 ? sizeof(a->local) : sizeof(a->local[0]);
    return a->kind == b->kind && a->is_ip6 == b->is_ip6 && a->local_port == b->remote_port &&
           a->remote_port == b->local_port && memcmp(a->local, b->remote, bytes) == 0 &&
           memcmp(a->remote, b->local, bytes) == 0;
}

static void add_waiting_tcp(struct argus_live *live, const mac_sockets *sockets,
                            const struct mac_socket *client)
{
    bool is_awaited = false;
    for (size_t i = 0; i < sockets->length; i++) {
        const struct mac_socket *other = &sockets->data[i];
        if (is_end_of(client, other))
            return;
        is_awaited |= other->kind == MAC_SOCKET_TCP && other->is_listening && other->waiting &&
                      other->local_port == client->remote_port;
    }
    if (!is_awaited || !client->is_connected)
        return;
    struct mac_socket waiting = *client;
    waiting.id = 0;
    waiting.local_port = client->remote_port;
    waiting.remote_port = client->local_port;
    memcpy(waiting.local, client->remote, sizeof(waiting.local));
    memcpy(waiting.remote, client->local, sizeof(waiting.remote));
    add_inet(live, &waiting);
}

static void read_process(struct argus_live *live, uint32_t pid, mac_sockets *ret)
{
    struct mac_fd *fds;
    size_t count = mac_fds(pid, &fds);
    for (size_t i = 0; i < count; i++)
        if (fds[i].type == MAC_FD_SOCKET && !is_known(live, fds[i].socket.id)) {
            add_socket(live, &fds[i].socket);
            if (!vec_push(ret, fds[i].socket))
                live->no_memory = true;
        }
    free(fds);
}

void live_read_sockets(struct argus_live *live)
{
    mac_sockets sockets = {0};
    for (uint32_t i = 0; i < live->processes.length; i++)
        read_process(live, live->processes.data[i].pid, &sockets);
    for (size_t i = 0; i < sockets.length; i++)
        if (sockets.data[i].kind == MAC_SOCKET_UNIX)
            add_waiting_unix(live, &sockets, &sockets.data[i]);
        else if (sockets.data[i].kind == MAC_SOCKET_TCP && !sockets.data[i].is_listening)
            add_waiting_tcp(live, &sockets, &sockets.data[i]);
    vec_deinit(&sockets);
}
