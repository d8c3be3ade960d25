# A text field; F2 locks the file of the first argument.
use Fcntl ':flock';
use Tk;
my $top = MainWindow->new;
my $text = $top->Text->pack;
my ($path) = @ARGV;
$text->focusForce;
$top->bind('<F2>', sub { open my $file, '>', $path; flock $file, LOCK_EX; });
MainLoop;
