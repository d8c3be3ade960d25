/* A GTK 3 program that works without input: a label that changes with a timer, and another thread
 * that queues callbacks. */
#include <gtk/gtk.h>
#include <stdio.h>

enum { TICKS = 100, IDLES = 1000 };

static int ticks, idles;

static void quit_when_done(void)
{
    if (ticks >= TICKS && idles >= IDLES)
        gtk_main_quit();
}

static gboolean on_tick(gpointer label)
{
    char text[32];
    if (ticks < TICKS)
        ticks++;
    snprintf(text, sizeof(text), "tick %d", ticks);
    gtk_label_set_text(GTK_LABEL(label), text);
    quit_when_done();
    return TRUE;
}

static gboolean on_idle(gpointer unused)
{
    (void)unused;
    idles++;
    quit_when_done();
    return FALSE;
}

static gpointer queue_idles(gpointer unused)
{
    for (int i = 0; i < IDLES; i++) {
        g_idle_add(on_idle, NULL);
        if (i % 10 == 0)
            g_usleep(100);
    }
    return unused;
}

int main(int argc, char **argv)
{
    gtk_init(&argc, &argv);
    GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL), *label = gtk_label_new("");
    gtk_container_add(GTK_CONTAINER(window), label);
    gtk_widget_show_all(window);
    g_timeout_add(2, on_tick, label);
    GThread *thread = g_thread_new("queue", queue_idles, NULL);
    gtk_main();
    g_thread_join(thread);
    printf("ticks %d, idle %d\n", ticks, idles);
    return 0;
}
