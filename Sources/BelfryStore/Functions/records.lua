-- Records. In arguments the empty text stands for a record that is not there; no record is empty itself.
--
-- Arguments come in groups, one per table: the table's name, the number of fields, the fields, the texts. So the fields
-- go to HMGET as they are.

-- Reads the groups from the arguments. Gives the position after them.
local function read_groups(arguments, at)
  local groups = {}
  for index = 1, tonumber(arguments[at]) do
    local group = { name = arguments[at + 1], count = tonumber(arguments[at + 2]), first = at + 3 }
    groups[index] = group
    at = group.first + 2 * group.count - 1
  end
  return groups, at + 1
end

-- Whether each record is still what was read. One call per group.
local function are_unchanged(prefix, space, groups, arguments)
  for _, group in ipairs(groups) do
    local key, first, count = table_key(prefix, space, group.name), group.first, group.count
    if count == 1 then
      if (redis_call('HGET', key, arguments[first]) or '') ~= arguments[first + 1] then return false end
    else
      local texts = redis_call('HMGET', key, unpack(arguments, first, first + count - 1))
      for index = 1, count do
        if (texts[index] or '') ~= arguments[first + count + index - 1] then return false end
      end
    end
  end
  return true
end

local function read_list(arguments, at)
  local list, count = {}, tonumber(arguments[at])
  for index = 1, count do list[index] = arguments[at + index] end
  return list, at + count + 1
end

-- The number of records that a table will hold once the groups are written.
local function length_after(key, name, groups, arguments)
  local length = redis_call('HLEN', key)
  for _, group in ipairs(groups) do
    if group.name == name then
      local texts = redis_call('HMGET', key, unpack(arguments, group.first, group.first + group.count - 1))
      for index = 1, group.count do
        local is_there, will_be = texts[index], arguments[group.first + group.count + index - 1] ~= ''
        if will_be and not is_there then length = length + 1 end
        if is_there and not will_be then length = length - 1 end
      end
    end
  end
  return length
end

-- Writes the records of the groups. `marks` replaces the two characters that stand for ids: 1 for the last id before
-- this commit, 2 for the commit's own last id.
local function write_groups(prefix, space, groups, arguments, marks)
  for _, group in ipairs(groups) do
    local key, set, removed = table_key(prefix, space, group.name), {}, {}
    for index = group.first, group.first + group.count - 1 do
      local field, text = arguments[index], arguments[index + group.count]
      if text == '' then
        removed[#removed + 1] = field
      else
        set[#set + 1] = field
        set[#set + 1] = string.gsub(text, '[\1\2]', marks)
      end
    end
    call_in_chunks('HSET', key, set)
    call_in_chunks('HDEL', key, removed)
  end
end
