/* The rules for Linux. */
#include "live/live_wait.h"

/* To add a kind: a row, and its rule in a file. */
live_rule *const live_rules[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_MUTEX] = live_by_mutex,         [ARGUS_LIVE_RWLOCK] = live_by_rwlock,
    [ARGUS_LIVE_JOIN] = live_by_join,           [ARGUS_LIVE_CONDITION] = live_by_condition,
    [ARGUS_LIVE_PIPE] = live_by_pipe,           [ARGUS_LIVE_FIFO_OPEN] = live_by_fifo,
    [ARGUS_LIVE_UNIX_SOCKET] = live_by_socket,  [ARGUS_LIVE_TCP] = live_by_socket,
    [ARGUS_LIVE_EVENTFD] = live_by_eventfd,     [ARGUS_LIVE_TERMINAL] = live_by_terminal,
    [ARGUS_LIVE_FILE_LOCK] = live_by_file_lock, [ARGUS_LIVE_CHILD] = live_by_child,
    [ARGUS_LIVE_TRACED] = live_by_tracer,       [ARGUS_LIVE_FUSE] = live_by_fuse,
    [ARGUS_LIVE_EVENTS] = live_by_events,       [ARGUS_LIVE_FUTEX] = live_by_word,
    [ARGUS_LIVE_UDP] = live_by_socket,          [ARGUS_LIVE_DISK] = live_by_disk,
    [ARGUS_LIVE_PAGE] = live_by_page,           [ARGUS_LIVE_USERFAULT] = live_by_userfault,
};
