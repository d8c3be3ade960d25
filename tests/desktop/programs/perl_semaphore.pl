# A text field; F2 takes the System V semaphore of the first argument.
use Tk;
my $top = MainWindow->new;
my $text = $top->Text->pack;
my ($key) = @ARGV;
$text->focusForce;
$top->bind('<F2>', sub { semop(semget($key, 1, 0), pack('s!3', 0, -1, 0)) or die "semop: $!"; });
MainLoop;
