-- Calls of small functions, and text: what a first benchmark often is.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 20000 do words[#words + 1] = tostring(i) .. "x" end
print(fib(24), #table.concat(words))
