#include "simulated_mac.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/darwin/darwin.h"
#include "event/syscalls.h"

enum { MOST = 64, PIECE_BYTES = 128, CODE_AT = 0x100000000, SELF_AT = 24, HANDLE_AT = 0x16f000000 };

struct process {
    uint32_t pid;
    struct mac_process facts;
    enum argus_live_denied denied;
    uint32_t suspends;
    uint64_t images;
    struct mac_thread threads[16];
    size_t thread_count;
};

struct piece {
    uint32_t pid;
    uint64_t address;
    size_t bytes;
    uint8_t data[PIECE_BYTES];
};

struct port {
    uint32_t pid, messages;
    bool is_kernels;
    struct mac_port port;
};

struct fd {
    uint32_t pid;
    struct mac_fd fd;
};

static struct {
    struct process processes[MOST];
    size_t process_count;
    struct piece pieces[4 * MOST];
    size_t piece_count;
    struct port ports[MOST];
    size_t port_count;
    struct fd fds[MOST];
    size_t fd_count;
    uint32_t lock_holder;
    uint32_t opened; /* tasks for which was asked since they were closed */
} mac;

/* --- building --- */

void mac_begin(void)
{
    memset(&mac, 0, sizeof(mac));
}

static struct process *find(uint32_t pid)
{
    for (size_t i = 0; i < mac.process_count; i++)
        if (mac.processes[i].pid == pid)
            return &mac.processes[i];
    return NULL;
}

struct mac_process *mac_add(uint32_t pid, uint32_t parent, const char *name)
{
    struct process *process = &mac.processes[mac.process_count++];
    assert(mac.process_count <= MOST);
    process->pid = pid;
    process->facts.parent = parent;
    process->facts.status = 2; /* SRUN */
    snprintf(process->facts.name, sizeof(process->facts.name), "%s", name);
    return &process->facts;
}

void mac_set_denied(uint32_t pid, enum argus_live_denied denied)
{
    find(pid)->denied = denied;
}

void mac_set_suspended(uint32_t pid, uint32_t count)
{
    find(pid)->suspends = count;
}

struct mac_thread *mac_add_thread(uint64_t id, uint32_t self)
{
    struct process *process = &mac.processes[mac.process_count - 1];
    struct mac_thread *thread = &process->threads[process->thread_count++];
    assert(process->thread_count <= 16);
    thread->id = id;
    thread->handle = HANDLE_AT + id * 0x10000;
    thread->run_state = MAC_RUNNING;
    thread->is_arm64 = true;
    if (self)
        mac_write_32(process->pid, thread->handle + SELF_AT, self);
    return thread;
}

static uint32_t number_of(const char *call, bool *ret_trap)
{
    for (uint32_t i = 0; i < DARWIN_TRAP + 0x400; i++) {
        const char *name = syscall_row(ARGUS_OS_DARWIN, 0, i)->name;
        *ret_trap = DARWIN_IS_TRAP(i);
        if (name && strcmp(name, call) == 0)
            return *ret_trap ? i - DARWIN_TRAP : i;
    }
    fprintf(stderr, "no call %s\n", call);
    abort();
}

void mac_wait_in(struct mac_thread *thread, const char *call, const uint64_t *arg, size_t count)
{
    static const uint8_t enters[] = {0x01, 0x10, 0x00, 0xd4}; /* svc #0x80 */
    bool is_trap;
    uint32_t number = number_of(call, &is_trap);
    thread->run_state = MAC_WAITING;
    thread->has_registers = true;
    thread->number = is_trap ? (uint64_t) - (int64_t)number : number;
    memset(thread->arg, 0, sizeof(thread->arg));
    memcpy(thread->arg, arg, count * sizeof(*arg));
    thread->pc = CODE_AT + thread->id * 0x100 + sizeof(enters);
    thread->sp = thread->handle - 0x1000;
    mac_write(mac.processes[mac.process_count - 1].pid, thread->pc - sizeof(enters), enters,
              sizeof(enters));
}

void mac_write(uint32_t pid, uint64_t address, const void *bytes, size_t count)
{
    struct piece *piece = &mac.pieces[mac.piece_count++];
    assert(mac.piece_count <= sizeof(mac.pieces) / sizeof(mac.pieces[0]) && count <= PIECE_BYTES);
    *piece = (struct piece){.pid = pid, .address = address, .bytes = count};
    memcpy(piece->data, bytes, count);
}

void mac_write_32(uint32_t pid, uint64_t address, uint32_t value)
{
    mac_write(pid, address, &value, sizeof(value));
}

void mac_write_64(uint32_t pid, uint64_t address, uint64_t value)
{
    mac_write(pid, address, &value, sizeof(value));
}

void mac_add_port(uint32_t pid, uint32_t name, uint32_t type, uint32_t object)
{
    assert(mac.port_count < MOST);
    mac.ports[mac.port_count++] = (struct port){.pid = pid, .port = {name, type, object}};
}

static struct port *find_port(uint32_t pid, uint32_t name)
{
    for (size_t i = 0; i < mac.port_count; i++)
        if (mac.ports[i].pid == pid && mac.ports[i].port.name == name)
            return &mac.ports[i];
    return NULL;
}

void mac_set_queue(uint32_t pid, uint32_t name, uint32_t messages)
{
    find_port(pid, name)->messages = messages;
}

void mac_set_kernels(uint32_t pid, uint32_t name)
{
    find_port(pid, name)->is_kernels = true;
}

void mac_add_fd(uint32_t pid, const struct mac_fd *fd)
{
    assert(mac.fd_count < MOST);
    mac.fds[mac.fd_count++] = (struct fd){pid, *fd};
}

void mac_add_pipe(uint32_t reader, uint32_t read_fd, uint32_t writer, uint32_t write_fd,
                  uint64_t handle, uint32_t unread)
{
    const struct mac_fd reads = {.fd = read_fd,
                                 .type = MAC_FD_PIPE,
                                 .flags = MAC_OPEN_READ,
                                 .handle = handle,
                                 .peer = handle + 1,
                                 .unread = unread};
    const struct mac_fd writes = {.fd = write_fd,
                                  .type = MAC_FD_PIPE,
                                  .flags = MAC_OPEN_WRITE,
                                  .handle = handle + 1,
                                  .peer = handle,
                                  .unread = unread};
    mac_add_fd(reader, &reads);
    mac_add_fd(writer, &writes);
}

void mac_set_lock_holder(uint32_t pid)
{
    mac.lock_holder = pid;
}

void mac_set_images(uint32_t pid, uint64_t address)
{
    find(pid)->images = address;
}

/* --- answers --- */

static void *copy(const void *items, size_t count, size_t bytes)
{
    void *ret = count ? malloc(count * bytes) : NULL;
    if (ret)
        memcpy(ret, items, count * bytes);
    return ret;
}

size_t mac_pids(uint32_t **ret)
{
    uint32_t pids[MOST];
    for (size_t i = 0; i < mac.process_count; i++)
        pids[i] = mac.processes[i].pid;
    *ret = copy(pids, mac.process_count, sizeof(*pids));
    return mac.process_count;
}

bool mac_process(uint32_t pid, struct mac_process *ret)
{
    const struct process *process = find(pid);
    if (process)
        *ret = process->facts;
    return process != NULL;
}

bool mac_caught_signals(uint32_t pid, uint32_t *ret)
{
    (void)pid;
    *ret = 0;
    return true;
}

size_t mac_threads(uint32_t pid, struct mac_thread **ret)
{
    const struct process *process = find(pid);
    size_t count =
        process && process->denied != ARGUS_LIVE_DENIED_OWNER ? process->thread_count : 0;
    *ret = copy(process ? process->threads : NULL, count, sizeof(**ret));
    for (size_t i = 0; i < count && process->denied; i++) {
        (*ret)[i].id = 0;
        (*ret)[i].has_registers = false;
    }
    return count;
}

static bool sees_fds(uint32_t pid)
{
    const struct process *process = find(pid);
    return process && process->denied != ARGUS_LIVE_DENIED_OWNER;
}

size_t mac_fds(uint32_t pid, struct mac_fd **ret)
{
    struct mac_fd *found = calloc(MOST, sizeof(*found));
    size_t count = 0;
    for (size_t i = 0; i < mac.fd_count && sees_fds(pid); i++)
        if (mac.fds[i].pid == pid)
            found[count++] = mac.fds[i].fd;
    *ret = found;
    return count;
}

bool mac_fd(uint32_t pid, uint32_t fd, struct mac_fd *ret)
{
    for (size_t i = 0; i < mac.fd_count && sees_fds(pid); i++)
        if (mac.fds[i].pid == pid && mac.fds[i].fd.fd == fd) {
            *ret = mac.fds[i].fd;
            return true;
        }
    return false;
}

uint32_t mac_lock_holder(const char *path, int64_t start, int64_t length, int16_t type)
{
    (void)path, (void)start, (void)length, (void)type;
    return mac.lock_holder;
}

enum argus_live_denied mac_access(uint32_t pid)
{
    const struct process *process = find(pid);
    mac.opened++;
    return process ? process->denied : ARGUS_LIVE_DENIED_TASK;
}

void mac_close_tasks(void)
{
    mac.opened = 0;
}

uint32_t mac_opened_tasks(void)
{
    return mac.opened;
}

uint32_t mac_task_suspends(uint32_t pid)
{
    return find(pid)->denied ? 0 : find(pid)->suspends;
}

bool mac_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes)
{
    if (!find(pid) || find(pid)->denied)
        return false;
    for (size_t i = mac.piece_count; i-- > 0;) {
        const struct piece *piece = &mac.pieces[i];
        if (piece->pid != pid || address < piece->address || bytes > piece->bytes ||
            address - piece->address > piece->bytes - bytes)
            continue;
        memcpy(ret, piece->data + (address - piece->address), bytes);
        return true;
    }
    return false;
}

uint64_t mac_images_address(uint32_t pid)
{
    return find(pid)->images;
}

static struct mac_thread *find_thread(uint32_t pid, uint32_t tid)
{
    struct process *process = find(pid);
    for (size_t i = 0; process && i < process->thread_count; i++)
        if ((uint32_t)process->threads[i].id == tid)
            return &process->threads[i];
    return NULL;
}

/* A task that is held may not be read by another name: the token is its process ID. */
bool mac_hold(uint32_t pid, uint32_t *ret_token)
{
    *ret_token = pid;
    find(pid)->suspends++;
    return !find(pid)->denied;
}

void mac_release(uint32_t token)
{
    assert(find(token)->suspends > 0);
    find(token)->suspends--;
}

bool mac_thread(uint32_t pid, uint32_t tid, struct mac_thread *ret)
{
    const struct mac_thread *thread = find_thread(pid, tid);
    if (thread)
        *ret = *thread;
    return thread != NULL;
}

bool mac_is_running(uint32_t pid, uint32_t tid)
{
    const struct mac_thread *thread = find_thread(pid, tid);
    return thread && thread->run_state == MAC_RUNNING;
}

size_t mac_ports(uint32_t pid, struct mac_port **ret)
{
    struct mac_port *found = calloc(MOST, sizeof(*found));
    size_t count = 0;
    for (size_t i = 0; i < mac.port_count && !find(pid)->denied; i++)
        if (mac.ports[i].pid == pid)
            found[count++] = mac.ports[i].port;
    *ret = found;
    return count;
}

bool mac_port_queue(uint32_t pid, uint32_t name, uint32_t *ret_messages)
{
    const struct port *port = find_port(pid, name);
    *ret_messages = port ? port->messages : 0;
    return port != NULL;
}

bool mac_port_is_kernels(uint32_t pid, uint32_t name)
{
    const struct port *port = find_port(pid, name);
    return port && port->is_kernels;
}
