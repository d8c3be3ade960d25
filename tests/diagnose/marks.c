/* Functions of macOS's libraries that indicate a hang: only the names matter. */
int is_mainthread_spinning;
int need_display = 1;

int CGSConnectionSetSpinning(int connection, int spinning);
int CGSGetWindowCount(int connection);

int CGSConnectionSetSpinning(int connection, int spinning)
{
    return connection + spinning + is_mainthread_spinning;
}

int CGSGetWindowCount(int connection)
{
    return connection * 3 + need_display;
}
