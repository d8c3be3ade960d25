/* What libproc and sysctl tell of processes, their threads' states and their descriptors. Never run
 * on a Mac (docs/macos.md).
 *
 * proc_pidinfo() tells threads and descriptors of one's own processes, and root those of all (xnu
 * bsd/kern/proc_info.c, CHECK_SAME_USER); the facts of struct mac_process, it tells to everybody. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/macos/mac_kernel.h"
#include "live/macos/mac_thread_state.h"

static_assert(MAC_STOPPED == SSTOP && MAC_ZOMBIE == SZOMB, "sys/proc.h");
static_assert(MAC_TRACED == PROC_FLAG_TRACED && MAC_IN_VFORK == PROC_FLAG_PPWAIT, "pbi_flags");
static_assert((int)MAC_RUNNING == TH_STATE_RUNNING && (int)MAC_HALTED == TH_STATE_HALTED &&
                  (int)MAC_WAITING == TH_STATE_WAITING &&
                  (int)MAC_UNINTERRUPTIBLE == TH_STATE_UNINTERRUPTIBLE,
              "pth_run_state");
static_assert((int)MAC_FD_FILE == PROX_FDTYPE_VNODE && (int)MAC_FD_SOCKET == PROX_FDTYPE_SOCKET &&
                  (int)MAC_FD_KQUEUE == PROX_FDTYPE_KQUEUE &&
                  (int)MAC_FD_PIPE == PROX_FDTYPE_PIPE &&
                  (int)MAC_FD_SEMAPHORE == PROX_FDTYPE_PSEM &&
                  (int)MAC_FD_SHARED_MEMORY == PROX_FDTYPE_PSHM,
              "proc_fdtype");
static_assert(MAC_OPEN_READ == FREAD && MAC_OPEN_WRITE == FWRITE, "fi_openflags");
static_assert(MAC_NAME_BYTES >= MAXTHREADNAMESIZE && MAC_PATH_BYTES >= MAXPATHLEN, "names");

/* --- processes --- */

/* The number may have grown between two calls: so with room for some more. */
size_t mac_pids(uint32_t **ret)
{
    enum { MORE = 64 };
    int most = proc_listallpids(NULL, 0);
    *ret = most > 0 ? calloc((size_t)most + MORE, sizeof(**ret)) : NULL;
    int count = *ret ? proc_listallpids(*ret, (most + MORE) * (int)sizeof(**ret)) : 0;
    return count > 0 ? (size_t)count : 0;
}

bool mac_process(uint32_t pid, struct mac_process *ret)
{
    struct proc_bsdshortinfo info;
    *ret = (struct mac_process){.parent = 0};
    if (proc_pidinfo((int)pid, PROC_PIDT_SHORTBSDINFO, 1 /* zombies too */, &info, sizeof(info)) !=
        (int)sizeof(info))
        return false;
    ret->parent = info.pbsi_ppid;
    ret->uid = info.pbsi_uid;
    ret->status = info.pbsi_status;
    ret->flags = info.pbsi_flags;
    if (proc_name((int)pid, ret->name, sizeof(ret->name)) <= 0)
        memcpy(ret->name, info.pbsi_comm, sizeof(info.pbsi_comm));
    return true;
}

bool mac_caught_signals(uint32_t pid, uint32_t *ret)
{
    int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid};
    struct kinfo_proc info;
    size_t bytes = sizeof(info);
    if (sysctl(name, sizeof(name) / sizeof(name[0]), &info, &bytes, NULL, 0) != 0 ||
        bytes != sizeof(info))
        return false;
    *ret = info.kp_proc.p_sigcatch;
    return true;
}

/* --- threads --- */

static bool read_thread(uint32_t pid, uint64_t handle, struct mac_thread *ret)
{
    struct proc_threadinfo info;
    if (proc_pidinfo((int)pid, PROC_PIDTHREADINFO, handle, &info, sizeof(info)) !=
        (int)sizeof(info))
        return false;
    *ret = (struct mac_thread){.handle = handle,
                               .run_state = (uint32_t)info.pth_run_state,
                               .ran_ns = info.pth_user_time + info.pth_system_time};
    memcpy(ret->name, info.pth_name, sizeof(info.pth_name));
    ret->name[sizeof(ret->name) - 1] = '\0';
    return true;
}

/* The list is that of the task, whose first thread is the main one (xnu osfmk/kern/bsd_kern.c,
 * fill_taskthreadlist). */
size_t mac_threads(uint32_t pid, struct mac_thread **ret)
{
    enum { MOST = 16384 };
    uint64_t *handles = calloc(MOST, sizeof(*handles));
    int bytes = handles ? proc_pidinfo((int)pid, PROC_PIDLISTTHREADS, 0, handles,
                                       MOST * (int)sizeof(*handles))
                        : 0;
    size_t listed = bytes > 0 ? (size_t)bytes / sizeof(*handles) : 0, count = 0;
    *ret = listed ? calloc(listed, sizeof(**ret)) : NULL;
    for (size_t i = 0; *ret && i < listed; i++)
        count += read_thread(pid, handles[i], &(*ret)[count]);
    free(handles);
    if (count)
        mac_add_registers(pid, *ret, count);
    return count;
}

/* --- descriptors --- */

static void read_pipe(int pid, int fd, struct mac_fd *ret)
{
    struct pipe_fdinfo info;
    if (proc_pidfdinfo(pid, fd, PROC_PIDFDPIPEINFO, &info, sizeof(info)) != (int)sizeof(info))
        return;
    ret->flags = info.pfi.fi_openflags;
    ret->handle = info.pipeinfo.pipe_handle;
    ret->peer = info.pipeinfo.pipe_peerhandle;
    ret->unread = (uint32_t)info.pipeinfo.pipe_stat.vst_size;
}

static void read_file(int pid, int fd, struct mac_fd *ret)
{
    struct vnode_fdinfowithpath info;
    if (proc_pidfdinfo(pid, fd, PROC_PIDFDVNODEPATHINFO, &info, sizeof(info)) != (int)sizeof(info))
        return;
    ret->flags = info.pfi.fi_openflags;
    ret->is_fifo = S_ISFIFO(info.pvip.vip_vi.vi_stat.vst_mode);
    ret->is_device =
        S_ISCHR(info.pvip.vip_vi.vi_stat.vst_mode) || S_ISBLK(info.pvip.vip_vi.vi_stat.vst_mode);
    memcpy(ret->path, info.pvip.vip_path, sizeof(info.pvip.vip_path));
    ret->path[sizeof(ret->path) - 1] = '\0';
}

static void copy_name(char ret[108], const struct sockaddr_un *address)
{
    size_t most = sizeof(address->sun_path) < 107 ? sizeof(address->sun_path) : 107;
    memcpy(ret, address->sun_path, most);
    ret[most] = '\0';
}

static void take_unix(const struct un_sockinfo *info, struct mac_socket *ret)
{
    ret->kind = MAC_SOCKET_UNIX;
    ret->peer = info->unsi_conn_so;
    copy_name(ret->name, &info->unsi_addr.ua_sun);
    copy_name(ret->peer_name, &info->unsi_caddr.ua_sun);
}

static void take_inet(const struct in_sockinfo *info, struct mac_socket *ret)
{
    ret->is_ip6 = !(info->insi_vflag & INI_IPV4);
    ret->local_port = ntohs((uint16_t)info->insi_lport);
    ret->remote_port = ntohs((uint16_t)info->insi_fport);
    if (ret->is_ip6) {
        memcpy(ret->local, &info->insi_laddr.ina_6, sizeof(ret->local));
        memcpy(ret->remote, &info->insi_faddr.ina_6, sizeof(ret->remote));
    } else {
        ret->local[0] = info->insi_laddr.ina_46.i46a_addr4.s_addr;
        ret->remote[0] = info->insi_faddr.ina_46.i46a_addr4.s_addr;
    }
}

/* An IPv4 address in a socket of IPv6 (::ffff:…) has the mark of IPv4, and stays as it is. */
static void read_socket(int pid, int fd, struct mac_fd *ret)
{
    struct socket_fdinfo info;
    if (proc_pidfdinfo(pid, fd, PROC_PIDFDSOCKETINFO, &info, sizeof(info)) != (int)sizeof(info))
        return;
    struct mac_socket *socket = &ret->socket;
    ret->flags = info.pfi.fi_openflags;
    socket->id = info.psi.soi_so;
    socket->unread = info.psi.soi_rcv.sbi_cc;
    socket->is_listening = (info.psi.soi_options & SO_ACCEPTCONN) != 0;
    socket->is_connected = (info.psi.soi_state & SOI_S_ISCONNECTED) != 0;
    socket->waiting = socket->is_listening ? (uint32_t)info.psi.soi_qlen : 0;
    if (info.psi.soi_kind == SOCKINFO_UN)
        take_unix(&info.psi.soi_proto.pri_un, socket);
    else if (info.psi.soi_kind == SOCKINFO_TCP)
        take_inet(&info.psi.soi_proto.pri_tcp.tcpsi_ini, socket);
    else if (info.psi.soi_kind == SOCKINFO_IN)
        take_inet(&info.psi.soi_proto.pri_in, socket);
    if (info.psi.soi_kind == SOCKINFO_TCP)
        socket->kind = MAC_SOCKET_TCP;
    else if (info.psi.soi_kind == SOCKINFO_IN && info.psi.soi_type == SOCK_DGRAM)
        socket->kind = MAC_SOCKET_UDP;
}

static void read_semaphore(int pid, int fd, struct mac_fd *ret)
{
    struct psem_fdinfo info;
    if (proc_pidfdinfo(pid, fd, PROC_PIDFDPSEMINFO, &info, sizeof(info)) != (int)sizeof(info))
        return;
    memcpy(ret->path, info.pseminfo.psem_name, sizeof(info.pseminfo.psem_name));
    ret->path[sizeof(ret->path) - 1] = '\0';
}

/* To add a type: a row. */
static const struct {
    enum mac_fd_type type;
    void (*read)(int pid, int fd, struct mac_fd *ret);
} readers[] = {
    {MAC_FD_PIPE, read_pipe},
    {MAC_FD_FILE, read_file},
    {MAC_FD_SOCKET, read_socket},
    {MAC_FD_SEMAPHORE, read_semaphore},
};

static void read_fd(uint32_t pid, const struct proc_fdinfo *listed, struct mac_fd *ret)
{
    *ret = (struct mac_fd){.fd = (uint32_t)listed->proc_fd, .type = listed->proc_fdtype};
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (readers[i].type == ret->type)
            readers[i].read((int)pid, listed->proc_fd, ret);
}

static size_t list_fds(uint32_t pid, struct proc_fdinfo **ret)
{
    enum { MORE = 32 };
    int bytes = proc_pidinfo((int)pid, PROC_PIDLISTFDS, 0, NULL, 0);
    size_t most = bytes > 0 ? (size_t)bytes / sizeof(**ret) + MORE : 0;
    *ret = most ? calloc(most, sizeof(**ret)) : NULL;
    bytes =
        *ret ? proc_pidinfo((int)pid, PROC_PIDLISTFDS, 0, *ret, (int)(most * sizeof(**ret))) : 0;
    return bytes > 0 ? (size_t)bytes / sizeof(**ret) : 0;
}

size_t mac_fds(uint32_t pid, struct mac_fd **ret)
{
    struct proc_fdinfo *listed;
    size_t count = list_fds(pid, &listed);
    *ret = count ? calloc(count, sizeof(**ret)) : NULL;
    for (size_t i = 0; *ret && i < count; i++)
        read_fd(pid, &listed[i], &(*ret)[i]);
    free(listed);
    return *ret ? count : 0;
}

bool mac_fd(uint32_t pid, uint32_t fd, struct mac_fd *ret)
{
    struct proc_fdinfo *listed;
    size_t count = list_fds(pid, &listed), at = 0;
    while (at < count && listed[at].proc_fd != (int32_t)fd)
        at++;
    if (at < count)
        read_fd(pid, &listed[at], ret);
    free(listed);
    return at < count;
}

/* Only regular files have such locks; O_NONBLOCK: a FIFO of this name would wait. */
uint32_t mac_lock_holder(const char *path, int64_t start, int64_t length, int16_t type)
{
    struct flock lock = {.l_start = start, .l_len = length, .l_type = type, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is_read = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return is_read && lock.l_pid > 0 ? (uint32_t)lock.l_pid : 0;
}
