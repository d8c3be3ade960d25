<?php
// What php_frames.py records: waits in functions, methods, callbacks, generators, and in another file's code.

function slow_query()
{
    usleep(2000);
}

class Worker
{
    public function step()
    {
        usleep(2000);
    }

    public static function run()
    {
        (new Worker())->step();
    }
}

function generate()
{
    usleep(2000);
    yield 1;
}

function recurse($depth)
{
    if ($depth > 0)
        return recurse($depth - 1);
    usleep(2000);
}

function compare($left, $right)
{
    slow_query();
    return $left - $right;
}

function sorts()
{
    $list = [2, 1];
    usort($list, 'compare');
}

usleep(500000); // until the recorder has seen that the process runs PHP
slow_query();
Worker::run();
foreach (generate() as $value)
    ;
recurse(3);
recurse(200);
sorts();
eval("\nslow_query();");
