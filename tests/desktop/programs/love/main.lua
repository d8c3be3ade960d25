-- A window; F2 reads a line of the file of the first argument.
local path

function love.load(words)
    path = words[1]
end

function love.keypressed(key)
    if key == "f2" then
        io.open(path):read()
    end
end
