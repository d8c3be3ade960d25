/* A GTK 3 or GTK 4 window that is one button. A click makes on_clicked() run, which leaves work to an idle callback and to
 * a timeout. */
#include <gtk/gtk.h>

#include "use_cpu.h"

static gboolean do_timeout_work(gpointer data)
{
    (void)data;
    work(20);
    say("timeout");
    return G_SOURCE_REMOVE;
}

static gboolean do_idle_work(gpointer data)
{
    (void)data;
    work(40);
    say("idle");
    return G_SOURCE_REMOVE;
}

static void on_clicked(GtkButton *button, gpointer data)
{
    (void)button, (void)data;
    work(10);
    say("clicked");
    g_idle_add(do_idle_work, NULL);
    g_timeout_add(100, do_timeout_work, NULL);
}

static void activate(GtkApplication *application, gpointer data)
{
    (void)data;
    GtkWidget *window = gtk_application_window_new(application);
    GtkWidget *button = gtk_button_new_with_label("click");
    g_signal_connect(button, "clicked", G_CALLBACK(on_clicked), NULL);
    gtk_window_set_default_size(GTK_WINDOW(window), 300, 200);
#if GTK_MAJOR_VERSION >= 4
    gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
    gtk_window_set_child(GTK_WINDOW(window), button);
    gtk_window_present(GTK_WINDOW(window));
#else
    gtk_container_add(GTK_CONTAINER(window), button);
    gtk_widget_show_all(window);
#endif
    say("ready");
}

int main(int argc, char **argv)
{
    GtkApplication *application = gtk_application_new(NULL, G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), argc, argv);
}
