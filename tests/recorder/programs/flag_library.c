/* A thread-local variable in a library, as other libraries find it. */
void write_library_flag(void);

_Thread_local volatile int library_own_flag;

__attribute__((visibility("default"))) void write_library_flag(void)
{
    library_own_flag++;
}
