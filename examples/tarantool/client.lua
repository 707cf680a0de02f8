-- Writes by the first member and reads by the others, trying until each call succeeds.
local net, fiber = require('net.box'), require('fiber')

local function call(member, method, ...)
	while true do
		local c = net.connect(member .. ':3301', {wait_connected = 5})
		local ok, got = pcall(function(...)
			local s = c.space.greetings
			return s[method](s, ...)
		end, ...)
		c:close()
		if ok then return got end
		fiber.sleep(0.2)
	end
end

call('n1', 'replace', {1, 'hello'})
for _, member in ipairs{'n2', 'n3'} do
	local got
	repeat
		fiber.sleep(0.1)
		got = call(member, 'get', 1)
	until got
	assert(got[2] == 'hello', tostring(got))
	print('read back the tuple at ' .. member)
end
os.exit(0)
