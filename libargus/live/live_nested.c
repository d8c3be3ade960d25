/* Event loops inside event loops: a handler that runs a loop of its own until a dialog is answered,
 * a file is loaded, or another thread has finished. The program draws and answers pings meanwhile,
 * but the handler does not return. The stack has both loops. */
#include <string.h>

#include "live/live_wait.h"

/* Functions that run an event loop until it is left, by the beginning of their names. To add one: a
 * row. */
static const char *const loops[] = {
    "g_main_loop_run",     "g_application_run", "gtk_main",        "QEventLoop::exec",
    "QDialog::exec",       "QThread::exec",     "QMenu::exec",     "QCoreApplication::exec",
    "XtAppMainLoop",       "Fl::run",           "wxEntry",         "wxEventLoopBase::Run",
    "wxDialog::ShowModal", "Tk_MainLoop",       "Tcl_VwaitObjCmd", "MessageLoop::Run",
};

static bool is_loop(const struct argus_live *live, const struct argus_live_frame *frame)
{
    const char *function = strtab_get(live->texts, frame->function);
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
        if (strncmp(function, loops[i], strlen(loops[i])) == 0)
            return true;
    return false;
}

/* Of the program itself, not of a library; of a script if there is one, because its interpreter is
 * a library then. */
static bool is_own(const struct argus_live *live, const struct argus_live_frame *frame,
                   bool is_of_script)
{
    return is_of_script ? frame->is_script
                        : frame->image && frame->function &&
                              !strstr(strtab_get(live->texts, frame->image), ".so");
}

static bool has_script(const struct argus_live_frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].is_script)
            return true;
    return false;
}

static uint32_t next_loop(const struct argus_live *live, const struct argus_live_frame *frames,
                          uint32_t from, uint32_t count)
{
    while (from < count && !is_loop(live, &frames[from]))
        from++;
    return from;
}

/* The library's function that the program called, and the function of the program that called it.
 */
void live_nested_loop(const struct argus_live *live, const struct argus_live_frame *frames,
                      struct argus_live_step *step)
{
    uint32_t count = step->frame_count;
    uint32_t inner = next_loop(live, frames, 0, count), caller = inner + 1;
    bool is_of_script = has_script(frames, count);
    while (caller < count && !is_own(live, &frames[caller], is_of_script))
        caller++;
    if (caller >= count || next_loop(live, frames, caller + 1, count) == count)
        return;
    for (uint32_t i = 0; i < inner; i++)
        if (is_own(live, &frames[i], is_of_script))
            return; /* it waits in another call of its own */
    step->nested_loop = frames[caller - 1].function;
    step->nested_caller = frames[caller].function;
}
