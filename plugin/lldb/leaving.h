/* Learns in time that LLDB lets go of a process.
 *
 * LLDB 14 to 16 do not tell a plugin that a debugger ends, and no version tells of a detach that is
 * not a command (SBProcess::Detach() of a script, an IDE that disconnects). But all of them write a
 * line to the log "gdb-remote process" right before they send the packet that detaches, on the
 * thread that sends it: then the watchpoints can still be removed. A debugger of the plugin's own,
 * which does nothing else, gets that log.
 */
#ifndef ARGUS_PLUGIN_LLDB_LEAVING_H
#define ARGUS_PLUGIN_LLDB_LEAVING_H

/* From now on, host_end_watches() is called before each detach, until the user lets LLDB write that
 * log. The user's own log of "gdb-remote", if there is one, ends. Any thread may call it. */
void leaving_watch();

#endif
