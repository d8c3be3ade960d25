# What ruby_frames.py records: waits in methods, blocks, threads and callbacks, in one line and in others.

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

sleep 0.5 # until the recorder has seen that the process runs Ruby
Worker.new.run
recurse 3
one_line
many_lines
[2, 1].sort { |a, b| Worker.new.step; a <=> b }
Thread.new { recurse 1 }.join
Fiber.new { one_line }.resume
recurse 200
