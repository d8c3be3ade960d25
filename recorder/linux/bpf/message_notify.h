/* The sender's side of inotify: a write to a file that a group watches, itself or by its directory.
 *
 * The inode tells what is watched (i_fsnotify_mask; include/linux/fsnotify_backend.h), so a write
 * to any other file costs two reads. The marks are walked without their lock: a mark that is just
 * being removed can cause a superfluous record.
 */
#ifndef ARGUS_BPF_MESSAGE_NOTIFY_H
#define ARGUS_BPF_MESSAGE_NOTIFY_H

#include "message_record.h"

#define FS_MODIFY         0x00000002
#define FS_EVENT_ON_CHILD 0x08000000
#define NOTIFY_MARKS_MAX  8

/* A record for each group that has a mark with one of `events` at `inode`. */
static __always_inline void notify_marks(struct moment *now, const void *inode, uint32_t events,
                                         const struct message *message)
{
    const void *connector = (void *)kernel_word(kernel_place(inode, inode, i_fsnotify_marks));
    uint64_t node = kernel_word(kernel_place(fsnotify_mark_connector, connector, list.first));
    for (uint64_t i = 0; i < NOTIFY_MARKS_MAX && node; i++) {
        const void *mark = (void *)(node - bpf_core_field_offset(struct fsnotify_mark, obj_list));
        struct message of_group = *message;
        of_group.channel = kernel_word(kernel_place(fsnotify_mark, mark, group));
        if (kernel_read(fsnotify_mark, mark, mask) & events)
            message_emit_read(now, &of_group);
        node = kernel_word((const void *)node);
    }
}

/* `bytes` were written to `file`, a regular one. */
static __always_inline void message_notify(struct moment *now, const void *file,
                                           const struct inode *inode, uint64_t bytes)
{
    if (!bpf_core_field_exists(struct inode, i_fsnotify_mask))
        return;
    const void *entry = (void *)kernel_word(kernel_place(file, file, f_path.dentry));
    const void *parent = (void *)kernel_word(kernel_place(dentry, entry, d_parent));
    const void *folder = (void *)kernel_word(kernel_place(dentry, parent, d_inode));
    uint32_t own_mask = kernel_read(inode, inode, i_fsnotify_mask);
    uint32_t folder_mask = kernel_read(inode, folder, i_fsnotify_mask);
    struct message message = {
        .bytes = bytes, .kind = ARGUS_CHANNEL_INOTIFY, .other = kernel_read(inode, inode, i_ino)};
    if (own_mask & FS_MODIFY)
        notify_marks(now, inode, FS_MODIFY, &message);
    if (folder_mask & FS_MODIFY && folder_mask & FS_EVENT_ON_CHILD)
        notify_marks(now, folder, FS_MODIFY, &message);
}

#endif
