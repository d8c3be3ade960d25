/* A paste waits until the program that owns the selection has sent its contents, through the X
 * server. The server itself waits for nobody, so the connection alone leads nowhere.
 *
 * That a thread waits for a selection, a toolkit's functions on its stack tell. A small program
 * without a toolkit (xclip, xsel) waits in Xlib for any event. If it calls XConvertSelection()
 * itself and owns no selection, and an owner of one is held up, it probably waits for that. */
#include "live/live_selection.h"

#include <string.h>

#include "event/binary/elf_exports.h"
#include "live/live_display.h"
#include "live/live_images.h"
#include "live/live_x11_selection.h"

enum { LOOKED_AT = 24 /* frames */ };

/* Functions of toolkits that wait for a selection, by the beginning of their names. To add one: a
 * row. */
static const char *const functions[] = {
    "gtk_clipboard_wait_for",         "QXcbClipboard::waitForClipboardEvent",
    "QXcbClipboard::getDataInFormat", "TkSelGetSelection",
    "X11_GetClipboardText",           "x_get_foreign_selection",
};

static bool is_function(const char *function, const void *context)
{
    (void)context;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strncmp(function, functions[i], strlen(functions[i])) == 0)
            return true;
    return false;
}

static bool is_next_event(const char *function, const void *context)
{
    (void)context;
    return strcmp(function, "XNextEvent") == 0 || strcmp(function, "XIfEvent") == 0 ||
           strcmp(function, "xcb_wait_for_event") == 0;
}

/* Whether the program itself, rather than a library, asks for selections. */
static bool asks_itself(struct argus_live *live, uint32_t pid)
{
    uint64_t bias;
    const struct live_elf *file = live_elf_at(live, pid, 0, &bias);
    return file && (elf_import_find(file->elf, "XConvertSelection") ||
                    elf_import_find(file->elf, "xcb_convert_selection"));
}

static bool is_held_up(struct argus_live *live, uint32_t process)
{
    const struct argus_live_process of = live->processes.data[process];
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++)
        if (!live_is_idle(live_wait(live, i).kind) &&
            live_wait(live, i).kind != ARGUS_LIVE_UNIX_SOCKET)
            return true;
    return false;
}

/* Whether the process is a client of this server. The server tells the IDs of its clients as it
 * sees them: in another PID namespace they belong to others. */
static bool has_server(struct argus_live *live, uint32_t process, const char *display,
                       uint32_t server)
{
    uint32_t theirs;
    return live_uses_display(live, process, display, &theirs) &&
           (server == ARGUS_LIVE_NONE || theirs == ARGUS_LIVE_NONE || theirs == server);
}

/* The owners that are held up, or, if there are none, all (`ret_held_up`). The names of their
 * selections become the text of `wait`. False: the process owns one itself, or there are none. */
static bool find_owners(struct argus_live *live, uint32_t process, struct argus_live_wait *wait,
                        struct live_candidates *ret, bool *ret_held_up)
{
    char display[LIVE_DISPLAY_BYTES];
    struct x11_authority authority;
    struct x11_owner owners[X11_SELECTIONS];
    uint32_t server;
    if (!live_display_of_process(live, process, display, &authority) ||
        !live_uses_display(live, process, display, &server) ||
        (server != ARGUS_LIVE_NONE && live_has_own_ids(live->processes.data[server].pid)))
        return false;
    uint32_t count = x11_selection_owners(display, &authority, owners);
    for (uint32_t i = 0; i < count; i++)
        if (owners[i].pid == live->processes.data[process].pid)
            return false;
    for (int held_up = 1; held_up >= 0 && !ret->count; held_up--)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t owner = live_process(live, owners[i].pid);
            if (owner == ARGUS_LIVE_NONE || !has_server(live, owner, display, server) ||
                (held_up && !is_held_up(live, owner)))
                continue;
            if (!ret->count)
                wait->text = live_text(live, owners[i].selection);
            live_candidate(ret, owner, ARGUS_LIVE_NONE);
            *ret_held_up = held_up;
        }
    return ret->count > 0;
}

bool live_selection(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    bool is_sure, held_up = false;
    if ((wait->kind != ARGUS_LIVE_UNIX_SOCKET && wait->kind != ARGUS_LIVE_EVENTS) ||
        wait->is_write || live_display_of(live, process) != LIVE_DISPLAY_X11)
        return false;
    is_sure = live_stack_has(live, thread, LOOKED_AT, is_function, NULL);
    if (!is_sure && (!live_stack_has(live, thread, LOOKED_AT, is_next_event, NULL) ||
                     !asks_itself(live, live_pid_of(live, thread))))
        return false;
    struct argus_live_wait found = *wait;
    *ret = (struct live_candidates){
        .link = ARGUS_LIVE_LINK_OWNS, .end = ARGUS_LIVE_END_UNKNOWN, .is_guess = true};
    if (!find_owners(live, process, &found, ret, &held_up) && !is_sure)
        return false;
    if (!is_sure && !held_up)
        return false;
    *wait = found;
    wait->kind = ARGUS_LIVE_SELECTION;
    return true;
}
