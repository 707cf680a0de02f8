-- Member arg[1] of the replica set. The first one makes the space, the others are read-only.
box.cfg{
	listen = 3301,
	replication = {'replicator:secret@n1:3301', 'replicator:secret@n2:3301', 'replicator:secret@n3:3301'},
	read_only = arg[1] ~= 'n1',
}
box.once('schema', function()
	box.schema.user.create('replicator', {password = 'secret'})
	box.schema.user.grant('replicator', 'replication')
	box.schema.user.grant('guest', 'read,write', 'universe')
	local s = box.schema.space.create('greetings')
	s:create_index('primary', {parts = {{1, 'unsigned'}}})
end)
print(arg[1] .. ' serves')
