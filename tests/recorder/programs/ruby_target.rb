# What ruby_frames.py records: waits in methods, blocks, threads and callbacks, in one line and in others.
# ruby_target.rb SECONDS: again and again for so long, because the recorder needs a moment to see that the process runs Ruby.

class Worker
  def step
    sleep 0.003
  end

  def run
    2.times do
      step
    end
  end
end

def recurse(depth)
  return recurse(depth - 1) if depth > 0
  sleep 0.003
end

def one_line() = sleep(0.003)

def many_lines
  first = [1, 2, 3].map { |x| x * 2 }.sum
  second = first + 1 + first * 2
  third = second > 4 ? second : first
  fourth = [first, second, third].max
  fifth = fourth - first + second * third
  sixth = [fifth, fourth].min + first
  sleep 0.003
  sixth
end

ending = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ARGV[0])
begin
  Worker.new.run
  recurse 3
  one_line
  many_lines
  [2, 1].sort { |a, b| Worker.new.step; a <=> b }
  Thread.new { recurse 1 }.join
  Fiber.new { one_line }.resume
  recurse 200
end while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ending
