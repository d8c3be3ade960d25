/* The line to displayd, and the thread that listens at it. */
#ifndef RECONFIGURE_SETTINGS_LINK_H
#define RECONFIGURE_SETTINGS_LINK_H

#ifdef __cplusplus
extern "C" {
#endif

enum { POLL_US = 1000, GIVE_UP_AFTER = 2000 };

/* Opens FOLDER/settings and begins to listen. Ends the program when that fails. */
void link_open(const char *folder);
/* Asks displayd, at FOLDER/display, for a change. */
void link_ask(const char *display);
/* Takes the next whole line of the program's input into `ret`, waiting for it; 0: there is none any more. */
int link_read_line(char *ret, unsigned room);
void link_close(void);

/* The program's: displayd has done it. Called by the listener's thread. */
void on_reconfigured(void);

#ifdef __cplusplus
}
#endif
#endif
