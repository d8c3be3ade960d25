/* settings.c with a window: while it waits it lets GTK handle events in a loop of its own, so that the window is drawn; but
 * nobody comes back to the main loop. */
#include "settings_link.h"

#include <gtk/gtk.h>
#include <stdio.h>
#include <unistd.h>

static volatile int did_reconfigure;

void on_reconfigured(void)
{
    did_reconfigure = 1;
}

static gboolean wait_until_reconfigured(void)
{
    for (int i = 0; i < GIVE_UP_AFTER; i++) {
        if (did_reconfigure)
            return TRUE;
        while (gtk_events_pending())
            gtk_main_iteration();
        usleep(POLL_US);
    }
    return FALSE;
}

static gboolean on_click(GIOChannel *source, GIOCondition condition, gpointer data)
{
    char name[64];
    (void)source, (void)condition, (void)data;
    if (!link_read_line(name, sizeof(name))) {
        gtk_main_quit();
        return FALSE;
    }
    did_reconfigure = 0;
    link_ask(name);
    puts(wait_until_reconfigured() ? "done" : "gave up");
    fflush(stdout);
    return TRUE;
}

int main(int argc, char **argv)
{
    gtk_init(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: settings-gtk SOCKET-FOLDER\n");
        return 2;
    }
    GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
    gtk_container_add(GTK_CONTAINER(window), gtk_button_new_with_label("Change"));
    gtk_widget_show_all(window);
    link_open(argv[1]);
    g_io_add_watch(g_io_channel_unix_new(0), G_IO_IN | G_IO_HUP, on_click, NULL);
    gtk_main();
    link_close();
    return 0;
}
