-- What is measured; nothing of it is in the training: permutations, matrices, trees, and a document as JSON.
local function fannkuch(n)
  local p, q, s, sign, most, sum = {}, {}, {}, 1, 0, 0
  for i = 1, n do p[i], q[i], s[i] = i, i, i end
  repeat
    local first = p[1]
    if first ~= 1 then
      for i = 2, n do q[i] = p[i] end
      local flips = 1
      while true do
        local other = q[first]
        if other == 1 then
          sum = sum + sign * flips
          if flips > most then most = flips end
          break
        end
        q[first] = first
        if first >= 4 then
          local i, j = 2, first - 1
          repeat q[i], q[j], i, j = q[j], q[i], i + 1, j - 1 until i >= j
        end
        first, flips = other, flips + 1
      end
    end
    if sign == 1 then
      p[1], p[2], sign = p[2], p[1], -1
    else
      p[2], p[3], sign = p[3], p[2], 1
      for i = 3, n do
        if s[i] ~= 1 then s[i] = s[i] - 1 break end
        if i == n then return sum, most end
        s[i] = i
        local t = p[1]
        for j = 1, i do p[j] = p[j + 1] end
        p[i + 1] = t
      end
    end
  until false
end

local function matrices(n)
  local function matrix(f)
    local m = {}
    for i = 1, n do
      m[i] = {}
      for j = 1, n do m[i][j] = f(i, j) end
    end
    return m
  end
  local a, b = matrix(function(i, j) return i - j end), matrix(function(i, j) return 1 / (i + j) end)
  local c = matrix(function(i, j)
    local row, sum = a[i], 0
    for k = 1, n do sum = sum + row[k] * b[k][j] end
    return sum
  end)
  return ("%.6f"):format(c[n][n])
end

local function tree(depth) return depth == 0 and {} or { tree(depth - 1), tree(depth - 1) } end
local function size(node) return node[1] and 1 + size(node[1]) + size(node[2]) or 1 end

local function json(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts = {}
  if #value > 0 then
    for i, item in ipairs(value) do parts[i] = json(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = json(key) .. ":" .. json(value[key]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local document = {}
for i = 1, 3000 do document[i] = { id = i, name = "item " .. i, tags = { "a", "b", i % 7 } } end
print(fannkuch(9), matrices(150), size(tree(15)), #json(document))
