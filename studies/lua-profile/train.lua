-- What the profile is made of: queens, a sieve, sorting, words counted in text, accounts, and planets.
local function queens(n, row, cols, up, down)
  if row > n then return 1 end
  local found = 0
  for col = 1, n do
    if not (cols[col] or up[row + col] or down[row - col]) then
      cols[col], up[row + col], down[row - col] = true, true, true
      found = found + queens(n, row + 1, cols, up, down)
      cols[col], up[row + col], down[row - col] = nil, nil, nil
    end
  end
  return found
end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function sorted(n)
  local list, seed = {}, 42
  for i = 1, n do
    seed = (seed * 1103515245 + 12345) % 2147483648
    list[i] = seed
  end
  table.sort(list, function(a, b) return a < b end)
  return list[n // 2]
end

local function words(n)
  local count = {}
  for i = 1, n do
    for word in ("the quick brown fox " .. i % 97 .. " jumps over the lazy dog"):gmatch("%w+") do
      count[word] = (count[word] or 0) + 1
    end
  end
  return count.the
end

local Account = {}
Account.__index = Account
function Account.new(owner) return setmetatable({ owner = owner, balance = 0, log = {} }, Account) end
function Account:deposit(amount)
  self.balance = self.balance + amount
  self.log[#self.log + 1] = ("%s: %+.2f"):format(self.owner, amount)
end
local function accounts(n)
  local bytes = 0
  for i = 1, n do
    local one = Account.new("owner " .. i)
    for k = 1, 10 do one:deposit(k * 1.5) end
    bytes = bytes + #table.concat(one.log, "\n")
  end
  return bytes
end

local function planets(steps)
  local list = {}
  for i = 1, 5 do list[i] = { x = i, y = i * 0.5, vx = 0, vy = 0, mass = 1 / i } end
  for _ = 1, steps do
    for i, a in ipairs(list) do
      for k = i + 1, #list do
        local b = list[k]
        local dx, dy = a.x - b.x, a.y - b.y
        local pull = 0.01 / (dx * dx + dy * dy) ^ 1.5
        a.vx, a.vy = a.vx - dx * b.mass * pull, a.vy - dy * b.mass * pull
        b.vx, b.vy = b.vx + dx * a.mass * pull, b.vy + dy * a.mass * pull
      end
    end
    for _, a in ipairs(list) do a.x, a.y = a.x + 0.01 * a.vx, a.y + 0.01 * a.vy end
  end
  return ("%.6f"):format(list[1].x)
end

print(accounts(3000), planets(10000))
print(queens(8, 1, {}, {}, {}), sieve(300000), sorted(50000), words(20000))
