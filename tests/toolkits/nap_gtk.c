/* nap_gtk SECONDS: a GTK window that answers pings, then stops answering for SECONDS, and ends two
 * seconds later. With 0 it always answers. */
#include <gtk/gtk.h>
#include <stdlib.h>

static double nap_seconds;

static gboolean take_nap(gpointer unused)
{
    (void)unused;
    g_usleep((gulong)(nap_seconds * 1e6));
    return G_SOURCE_REMOVE;
}

static gboolean end(gpointer unused)
{
    (void)unused;
    gtk_main_quit();
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    gtk_init(&argc, &argv);
    nap_seconds = argc > 1 ? atof(argv[1]) : 3;
    GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
    gtk_widget_show_all(window);
    g_timeout_add(2000, take_nap, NULL);
    g_timeout_add((guint)(nap_seconds * 1000) + 4000, end, NULL);
    gtk_main();
    return 0;
}
