# Answers with the path and a random number.
require 'webrick'
s = WEBrick::HTTPServer.new(Port: 80)
s.mount_proc('/') { |q, r| r.body = "page #{q.path} #{rand}\n" }
s.start
